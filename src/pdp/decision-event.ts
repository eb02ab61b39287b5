/** A decision as the decision log has it: OPA's format of events, with our facts under `custom`. */

import type { EngineInput } from './engine.js';

/** A decision that was made. */
export interface LoggedDecision {
	/** That of the request; of a check among many with its place, `<id>/<index>`. */
	readonly decisionId: string;
	readonly requestId: string;
	/** The client's library, as it names itself; `undefined` when it does not. */
	readonly sdk: string | undefined;
	readonly input: EngineInput;
	readonly code: string;
	/** How long the policy took, in milliseconds. */
	readonly duration: number;
	readonly revision: number;
	readonly policyRevision: number;
}

/** What the events of one decision point have in common. */
export interface EventLabels {
	/** The name of the decision point. */
	readonly id: string;
	readonly version: string;
}

/** The path of a member of the input that is not logged, such as `['user', 'attributes', 'ssn']`. */
export type MaskedPath = readonly string[];

/** The line of a decision: JSON. Masked members are left out, and `erased` has their JSON pointers. */
export function eventLine(decision: LoggedDecision, labels: EventLabels, masks: readonly MaskedPath[]): string {
	const { input, code, duration, revision, policyRevision, decisionId, requestId, sdk } = decision;
	const { time, ...asked } = input;
	const { value, erased } = withoutMasked(asked, masks);
	return JSON.stringify({
		labels,
		decision_id: decisionId,
		path: 'regolith/check/code',
		input: value,
		result: { allow: code === 'allow', code },
		timestamp: new Date(time).toISOString(),
		bundles: { environment: { revision: String(revision) } },
		metrics: { timer_rego_query_eval_ns: Math.round(duration * 1e6) },
		...(erased.length === 0 ? {} : { erased }),
		custom: { request_id: requestId, policy_revision: policyRevision, sdk },
	});
}

interface Masked {
	readonly value: unknown;
	readonly erased: readonly string[];
}

function withoutMasked(input: unknown, masks: readonly MaskedPath[]): Masked {
	let value = input;
	const erased: string[] = [];
	for (const mask of masks) {
		const left = without(value, mask);
		if (left === value) continue;
		value = left;
		erased.push(['/input', ...mask.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/'));
	}
	return { value, erased };
}

/** A copy without the member at a path, or the same value where there is none. */
function without(value: unknown, [name, ...below]: MaskedPath): unknown {
	if (name === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return value;
	const { [name]: member, ...others } = value as Readonly<Record<string, unknown>>;
	if (below.length === 0) return others;
	const left = without(member, below);
	return left === member ? value : { ...others, [name]: left };
}
