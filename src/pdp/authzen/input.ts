/** Converts AuthZEN requests to checks. */

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
}

/**
 * Returns the engine input for an evaluation. If the request contains no tenant, uses the tenant of the resource
 * instance, or else the default tenant.
 */
export function evaluationInput(
	evaluation: Omit<Evaluation, 'contextual_facts'>,
	{ facts, time, mode }: EvaluationReading,
): EngineInput {
	const { subject, action, resource, context } = evaluation;
	const { tenant: _, ...attributes } = resource.properties ?? {};
	const query: Query = {
		user: { key: subject.id, attributes: subject.properties },
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
