/** Decides a check and writes the decision log. */

import type { EventLog } from '../../log.js';
import type { AuthorizationResult } from '../../wire/decision/check.js';
import type { DecisionKind } from '../../wire/decision/filter.js';
import { type DecidingEngine, type EngineInput, evaluationFailed } from '../engine/engine.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { timesBefore } from '../facts/times-before.js';
import type { environmentDeleted } from '../follow/deleted-environment.js';
import { markContextualSources } from './contextual-sources.js';

/** Decision context: an engine at a single revision, so all decisions in a request use the same revision. */
export interface DecisionContext {
	readonly engine: DecidingEngine;
	/** Index for listings, at the same revision. */
	readonly facts: FactsIndex;
	/** The revision's lineage; absent if unknown. */
	readonly lineage?: string;
	readonly revision: number;
	/** Newest revision whose policy is in use. */
	readonly policyRevision: number;
	/** Decision time in milliseconds since 1970. All decisions in a request have the same time. */
	readonly time: number;
	readonly log: EventLog;
	/** Time since the data was last confirmed current, in whole seconds. */
	readonly dataAge?: number;
	/** Reason to deny every check without using the engine; absent if the engine decides. */
	readonly denial?: typeof dataOutdated | typeof environmentDeleted | undefined;
	/** Decision id for this request. If a request has several decisions, each appends its index. */
	readonly decisionId?: string;
	/** Adds a decision to the decision log; absent without a decision log. */
	readonly record?: RecordDecision;
	/** Counts a decision; absent if decisions are not counted. */
	readonly count?: CountDecision | undefined;
	/** Counts a listing in which the facts index differs from the engine; absent if differences are not counted. */
	readonly countDifference?: (() => void) | undefined;
	/** Request id, included in all log lines. */
	readonly requestId?: string;
}

export type CountDecision = (input: EngineInput, code: string) => void;

/** Logs a decision that took `duration` milliseconds. By default, the decision is a check. */
export type RecordDecision = (
	input: EngineInput,
	code: string,
	duration: number,
	index?: number,
	kind?: DecisionKind,
) => void;

/**
 * Decides a check. Never throws: any failure denies. With `explain`, the result contains the input as `query` and the
 * reasons as `debug`.
 */
export function decide(context: DecisionContext, input: EngineInput, explain: boolean): AuthorizationResult {
	const code = decidedCode(context, input);
	const allow = code === 'allow';
	noteForDebugging(context, input, code);
	if (code === evaluationFailed) {
		const { revision, requestId: request_id } = context;
		context.log.error({ request_id, revision }, 'a check could not be evaluated');
	}
	if (!explain) return allow ? allowed : denied;
	const {
		time: _,
		user: { holdings: __, ...user },
		...others
	} = input;
	const query = { user, ...others };
	if (context.denial !== undefined) return { allow, result: allow, query, debug: { code } };
	return { allow, result: allow, query, debug: reasons(context, input, code) };
}

/** Results without reasons. They are constants so their JSON is created only once. */
const allowed: AuthorizationResult = Object.freeze({ allow: true, result: true });
const denied: AuthorizationResult = Object.freeze({ allow: false, result: false });

/** Denial code for data older than the operator allows. */
export const dataOutdated = 'data_outdated' as const;

function decidedCode({ engine, facts, record, count, denial }: DecisionContext, input: EngineInput): string {
	const started = record === undefined ? 0 : performance.now();
	const code = denial ?? engine.code(withTimesBefore(facts, input));
	record?.(input, code, performance.now() - started);
	count?.(input, code);
	return code;
}

/** Adds the times that conditions compare with. Without these times, the policy calculates them, which takes longer. */
function withTimesBefore(facts: FactsIndex, input: EngineInput): EngineInput {
	const before = timesBefore(facts.schema, input);
	return before === undefined ? input : { ...input, before };
}

function noteForDebugging(context: DecisionContext, input: EngineInput, code: string): void {
	const { log, revision, requestId: request_id } = context;
	if (!log.isLevelEnabled('debug')) return;
	const { user, action, resource } = input;
	log.debug(
		{
			event: 'decision',
			request_id,
			allow: code === 'allow',
			code,
			revision,
			user: user.key,
			action,
			resource: resource.key === undefined ? resource.type : `${resource.type}:${resource.key}`,
			tenant: resource.tenant,
		},
		'decision',
	);
}

function reasons(context: DecisionContext, input: EngineInput, code: string): unknown {
	const { engine, log, requestId: request_id } = context;
	try {
		const sections = engine.evaluate('regolith/explain/sections', input);
		return input.contextual_facts === undefined ? sections : markContextualSources(context, input, sections);
	} catch (error) {
		// The decision is still valid; only its explanation is missing.
		log.error({ error, request_id }, 'a decision could not be explained');
		return { code };
	}
}
