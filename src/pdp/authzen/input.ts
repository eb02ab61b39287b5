/** Converts AuthZEN requests to checks. */

import { type UserSet, userSetParts } from '../../../compiler/user-set.js';
import type { Evaluation } from '../../wire/decision/authzen.js';
import type { Query } from '../../wire/decision/check.js';
import { type Mode, normalise } from '../decide/normalise.js';
import type { EngineInput } from '../engine/engine.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { instanceName } from '../facts/instance-name.js';

/** Context for reading an evaluation. */
export interface EvaluationReading {
	/** Index with the tenants of instances. */
	readonly facts: FactsIndex;
	/** Evaluation time in milliseconds since 1970. */
	readonly time: number;
	readonly mode: Mode;
	/** Subject types that are users. */
	readonly subjectTypes: ReadonlySet<string>;
}

/** Returns a subject as a set of users; `null` for a user and for any other subject. */
function setAsked({ type, id }: Evaluation['subject'], subjectTypes: ReadonlySet<string>): UserSet | null {
	return subjectTypes.has(type) ? null : userSetParts(`${type}:${id}`);
}

/** True for a user, and for a set of users with a role that is not computed. Inputs cannot contain computed roles. */
export function isHolder(
	subject: Evaluation['subject'],
	{ facts, subjectTypes }: Pick<EvaluationReading, 'facts' | 'subjectTypes'>,
): boolean {
	if (subjectTypes.has(subject.type)) return true;
	const set = setAsked(subject, subjectTypes);
	return set !== null && facts.schema.computed(set.type, set.role) === undefined;
}

/**
 * Returns the engine input for an evaluation. If the request contains no tenant, uses the tenant of the resource
 * instance, or else the default tenant.
 */
export function evaluationInput(
	evaluation: Omit<Evaluation, 'contextual_facts'>,
	{ facts, time, mode, subjectTypes }: EvaluationReading,
): EngineInput {
	const { subject, action, resource, context } = evaluation;
	const set = setAsked(subject, subjectTypes);
	const { tenant: _, ...attributes } = resource.properties ?? {};
	const query: Query = {
		user:
			set === null
				? { key: subject.id, attributes: subject.properties }
				: { key: `${subject.type}:${subject.id}`, set },
		action: action.name,
		resource: {
			type: resource.type,
			key: resource.id,
			tenant: tenantAsked(evaluation) ?? facts.tenantKey(instanceName({ type: resource.type, key: resource.id })),
			attributes,
		},
		context: action.properties ? { ...context, action: action.properties } : context,
	};
	return normalise(query, time, mode);
}

/** Returns the tenant in a request; undefined if there is none. */
export function tenantAsked({
	resource,
	context,
}: {
	readonly resource: Pick<Evaluation['resource'], 'properties'>;
	readonly context?: Evaluation['context'];
}): string | undefined {
	// The schema only accepts strings.
	for (const tenant of [resource.properties?.['tenant'], context?.['tenant']]) {
		if (typeof tenant === 'string' && tenant !== '') return tenant;
	}
	return undefined;
}
