/** Decision log events: OPA's event format, with our facts under `custom`. */

import type { EngineInput } from '../engine/engine.js';

/** A decision to log. */
export interface LoggedDecision {
	/** The request's decision id; `<id>/<index>` for one of several checks in a request. */
	readonly decisionId: string;
	readonly requestId: string;
	/** Client SDK, as named by the client; `undefined` if it sends no name. */
	readonly sdk: string | undefined;
	readonly input: EngineInput;
	readonly code: string;
	/** Policy evaluation time in milliseconds. */
	readonly duration: number;
	readonly lineage: string;
	/** The revision's random token. */
	readonly token: string;
	readonly revision: number;
	readonly policyRevision: number;
}

/** Labels shared by all events of a decision point. */
export interface EventLabels {
	/** Decision point name. */
	readonly id: string;
	readonly version: string;
}

/** Path of an input member excluded from the log, such as `['user', 'attributes', 'ssn']`. */
export type MaskedPath = readonly string[];

/** Maximum event length in characters. The API only stores the input of events up to this length. */
const maxEventLength = 64 * 1024;

/**
 * Maximum nesting depth of an input. The API accepts at most 100 levels of JSON, and the input is itself nested in the
 * event.
 */
const maxInputDepth = 90;

/** Maximum characters per string in a truncated input. */
const maxCutText = 1_024;

/**
 * Returns the JSON line for a decision. Masked members are removed, and `erased` lists their JSON pointers. An input
 * that is too long or too deep is `truncated`, because an event refused by the receiver could cause the loss of other
 * events in its chunk.
 */
export function eventLine(decision: LoggedDecision, labels: EventLabels, masks: readonly MaskedPath[]): string {
	const { time: _, ...asked } = decision.input;
	const masked = withoutMasked(asked, masks);
	if (!isDeeper(masked.value, maxInputDepth)) {
		const line = lineWith(masked, decision, labels, false);
		if (line.length <= maxEventLength) return line;
	}
	return lineWith(withoutMasked(cut(decision.input), masks), decision, labels, true);
}

/** Returns the core members of a check, without attributes and context. */
function cut({ user, action, resource: { type, key, tenant } }: EngineInput): unknown {
	const short = (text: string) => (text.length <= maxCutText ? text : wellFormed(text.slice(0, maxCutText)));
	const resource = { type: short(type), ...(key === undefined ? {} : { key: short(key) }), tenant: short(tenant) };
	return { user: { key: short(user.key) }, action: short(action), resource };
}

/** Removes a trailing half of a surrogate pair. */
function wellFormed(text: string): string {
	return text.replace(/[\ud800-\udbff]$/, '');
}

function isDeeper(value: unknown, levels: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function lineWith(
	{ value, erased }: Masked,
	decision: LoggedDecision,
	labels: EventLabels,
	truncated: boolean,
): string {
	const { input, code, duration, lineage, token, revision, policyRevision, decisionId, requestId, sdk } = decision;
	return JSON.stringify({
		labels,
		decision_id: decisionId,
		path: 'regolith/check/code',
		input: value,
		result: { allow: code === 'allow', code },
		timestamp: new Date(input.time).toISOString(),
		bundles: { environment: { revision: String(revision) } },
		metrics: { timer_rego_query_eval_ns: Math.round(duration * 1e6) },
		...(erased.length === 0 ? {} : { erased }),
		...(truncated ? { truncated } : {}),
		custom: {
			request_id: requestId,
			lineage: lineage || undefined,
			token: token || undefined,
			policy_revision: policyRevision,
			sdk,
		},
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

/** Returns a copy without the member at a path, or the same value if there is no such member. */
function without(value: unknown, [name, ...below]: MaskedPath): unknown {
	if (name === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return value;
	const { [name]: member, ...others } = value as Readonly<Record<string, unknown>>;
	if (below.length === 0) return others;
	const left = without(member, below);
	return left === member ? value : { ...others, [name]: left };
}
