/** What AuthZEN asks, as checks. */

import type { Evaluation } from '../../wire/decision/authzen.js';
import type { Query } from '../../wire/decision/check.js';
import { type Mode, normalise } from '../decide/normalise.js';
import type { EngineInput } from '../engine/engine.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { instanceName } from '../facts/instance-name.js';

/** What evaluations are read with. */
export interface EvaluationReading {
	/** Knows the tenants of instances. */
	readonly facts: FactsIndex;
	/** When the evaluation is decided, in milliseconds since 1970. */
	readonly time: number;
	readonly mode: Mode;
}

/** The engine's input for an evaluation. A resource that names no tenant is in that of its instance, else in the default one. */
export function evaluationInput(evaluation: Evaluation, { facts, time, mode }: EvaluationReading): EngineInput {
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

/** The tenant that a request names; undefined when it names none. */
export function tenantAsked({
	resource,
	context,
}: {
	readonly resource: Pick<Evaluation['resource'], 'properties'>;
	readonly context?: Evaluation['context'];
}): string | undefined {
	// The wire lets only strings through.
	for (const tenant of [resource.properties?.['tenant'], context?.['tenant']]) {
		if (typeof tenant === 'string' && tenant !== '') return tenant;
	}
	return undefined;
}
