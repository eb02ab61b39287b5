/** A decision as the decision log has it: OPA's format of events, with our facts under `custom`. */

import type { EngineInput } from '../engine/engine.js';

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
	readonly lineage: string;
	/** The random token of the revision. */
	readonly token: string;
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

/** The longest line of an event, in characters: that of which the API keeps the input. */
const maxEventLength = 64 * 1024;

/** How deep an input may nest. The API takes no deeper JSON than 100 levels, and an input is not the outermost one. */
const maxInputDepth = 90;

/** The most characters of one text where an input is cut. */
const maxCutText = 1_024;

/**
 * The line of a decision: JSON. Masked members are left out, and `erased` has their JSON pointers. An input that is too
 * long or nests too deeply is `truncated`: one event that a receiver refuses would take others of its chunk with it.
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

/** What a check is about, without attributes and context. */
function cut({ user, action, resource: { type, key, tenant } }: EngineInput): unknown {
	const short = (text: string) => (text.length <= maxCutText ? text : wellFormed(text.slice(0, maxCutText)));
	const resource = { type: short(type), ...(key === undefined ? {} : { key: short(key) }), tenant: short(tenant) };
	return { user: { key: short(user.key) }, action: short(action), resource };
}

/** A text without the first half of a character that was cut in two. */
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

/** A copy without the member at a path, or the same value where there is none. */
function without(value: unknown, [name, ...below]: MaskedPath): unknown {
	if (name === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return value;
	const { [name]: member, ...others } = value as Readonly<Record<string, unknown>>;
	if (below.length === 0) return others;
	const left = without(member, below);
	return left === member ? value : { ...others, [name]: left };
}
