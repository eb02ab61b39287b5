/** Decision log events: OPA's event format, with our facts under `custom`. */

import type { DecisionKind, FilterType } from '../../wire/decision/filter.js';
import type { EngineInput } from '../engine/engine.js';
import type { LoggedDecision } from './decision-ring.js';

/** Labels shared by all events of a decision point. */
export interface EventLabels {
	/** Decision point name. */
	readonly id: string;
	readonly version: string;
}

/** Path of an input field excluded from the log, such as `['user', 'attributes', 'ssn']`. */
export type MaskedPath = readonly string[];

/** Paths that name the kind of a decision. */
const paths: Readonly<Record<DecisionKind, string>> = { check: 'regolith/check/code', filter: 'regolith/filter' };

/** Type of a filter that selects no rows. Other filters count as allowed. */
const denyingFilter: FilterType = 'always_deny';

/** Maximum event length in characters. The API only stores the input of events up to this length. */
const maxEventLength = 64 * 1024;

/**
 * Maximum nesting depth of an input. The API accepts at most 100 levels of JSON, and the input is itself nested in the
 * event.
 */
const maxInputDepth = 90;

/** Maximum number of characters per string in a truncated input. */
const maxCutText = 1_024;

/**
 * Writes events. The parts that consecutive events share are written once, and an event is concatenated from strings,
 * because `JSON.stringify` takes several times as long.
 */
export class EventWriter {
	readonly #masks: readonly MaskedPath[];
	readonly #labels: string;
	#time = Number.NaN;
	#timestamp = '';

	constructor(labels: EventLabels, masks: readonly MaskedPath[]) {
		this.#masks = masks;
		this.#labels = JSON.stringify(labels);
	}

	/**
	 * Returns the JSON line for a decision. Masked fields are removed, and `erased` lists their JSON pointers. An input
	 * that is too long or too deep is `truncated`, because an event that the receiver rejects could cause the loss of
	 * other events in its chunk.
	 */
	line(decision: LoggedDecision): string {
		const { user: holder, action, resource, context, contextual_facts } = decision.input;
		const user = holder.holdings === undefined ? holder : withoutHoldings(holder);
		const asked = {
			user,
			action,
			resource,
			...(context !== undefined && { context }),
			...(contextual_facts !== undefined && { contextual_facts }),
		};
		const masked = withoutMasked(asked, this.#masks);
		const isFlat = context === undefined && user.attributes === undefined && resource.attributes === undefined;
		if (isFlat || !isDeeper(masked.value, maxInputDepth)) {
			const line = this.#lineWith(masked, decision, false);
			if (line.length <= maxEventLength) return line;
		}
		return this.#lineWith(withoutMasked(cut(decision.input), this.#masks), decision, true);
	}

	#lineWith({ value, erased }: Masked, decision: LoggedDecision, truncated: boolean): string {
		const { kind, input, code, duration, index, decisionId, requestId, sdk } = decision;
		const { lineage, token, revision, policyRevision } = decision.held;
		if (input.time !== this.#time) {
			this.#timestamp = new Date(input.time).toISOString();
			this.#time = input.time;
		}
		const id = index === undefined ? decisionId : `${decisionId}/${index}`;
		return (
			`{"labels":${this.#labels},"decision_id":"${id}","path":"${paths[kind]}","input":${JSON.stringify(value)},` +
			`"result":{"allow":${code === 'allow' || (kind === 'filter' && code !== denyingFilter)},"code":${JSON.stringify(code)}},"timestamp":"${this.#timestamp}",` +
			`"bundles":{"environment":{"revision":"${revision}"}},` +
			`"metrics":{"timer_rego_query_eval_ns":${Math.round(duration * 1e6)}},` +
			(erased.length === 0 ? '' : `"erased":${JSON.stringify(erased)},`) +
			(truncated ? '"truncated":true,' : '') +
			`"custom":{"request_id":${JSON.stringify(requestId)},` +
			(lineage === '' ? '' : `"lineage":${JSON.stringify(lineage)},`) +
			(token === '' ? '' : `"token":${JSON.stringify(token)},`) +
			`"policy_revision":${policyRevision}${sdk === undefined ? '' : `,"sdk":${JSON.stringify(sdk)}`}}}`
		);
	}
}

/** Holdings are stored roles and contextual facts. The log contains the contextual facts themselves. */
function withoutHoldings({ holdings: _, ...user }: EngineInput['user']): EngineInput['user'] {
	return user;
}

/** Returns the core fields of a check, without attributes and context. */
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

/** Returns a copy without the field at a path, or the value itself if it lacks the field. */
function without(value: unknown, [name, ...below]: MaskedPath): unknown {
	if (name === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return value;
	const { [name]: member, ...others } = value as Readonly<Record<string, unknown>>;
	if (below.length === 0) return others;
	const left = without(member, below);
	return left === member ? value : { ...others, [name]: left };
}
