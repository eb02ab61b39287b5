/** One decision: evaluates a check, answers it, and writes the decision log. */

import type { EventLog } from '../../log.js';
import type { AuthorizationResult } from '../../wire/decision/check.js';
import { type DecidingEngine, type EngineInput, evaluationFailed } from '../engine/engine.js';
import type { FactsIndex } from '../facts/facts-index.js';
import type { environmentDeleted } from '../follow/deleted-environment.js';

/** What decisions are made with: an engine at one revision, so that many decisions agree with each other. */
export interface DecisionContext {
	readonly engine: DecidingEngine;
	/** The index that proposes listings, of the same revision. */
	readonly facts: FactsIndex;
	/** The lineage of the revision; absent where it is not known. */
	readonly lineage?: string;
	readonly revision: number;
	/** The newest revision whose policy decides. */
	readonly policyRevision: number;
	/** When decisions are made, in milliseconds since 1970: one time for all of a request. */
	readonly time: number;
	readonly log: EventLog;
	/** How long ago it was last known that there is nothing newer, in whole seconds. */
	readonly dataAge?: number;
	/** Why everything is denied, whatever the engine says, if it is. */
	readonly denial?: typeof dataOutdated | typeof environmentDeleted | undefined;
	/** The id of the decisions of this request; of many, each has its place added. */
	readonly decisionId?: string;
	/** Puts a decision into the decision log, where there is one. */
	readonly record?: RecordDecision;
	/** Counts a decision, if decisions are counted. */
	readonly count?: CountDecision | undefined;
	/** The id of the request, which all its log lines have. */
	readonly requestId?: string;
}

/** Counts a decision by its input and its code. */
export type CountDecision = (input: EngineInput, code: string) => void;

/** Logs a decision that took `duration` milliseconds. */
export type RecordDecision = (input: EngineInput, code: string, duration: number, index?: number) => void;

/**
 * Decides one check; never throws. With `explain` the answer carries the input as `query` and the reasons as `debug`.
 * Anything that fails denies (spec: invariant of the decision point, fail closed).
 */
export function decide(context: DecisionContext, input: EngineInput, explain: boolean): AuthorizationResult {
	const code = decidedCode(context, input);
	const allow = code === 'allow';
	noteForDebugging(context, input, code);
	if (code === evaluationFailed) {
		const { revision, requestId: request_id } = context;
		context.log.error({ request_id, revision }, 'a check could not be evaluated');
	}
	if (!explain) return { allow, result: allow };
	const { time: _, ...query } = input;
	if (context.denial !== undefined) return { allow, result: allow, query, debug: { code } };
	return { allow, result: allow, query, debug: reasons(context, input, code) };
}

/** The code of a denial because the data is older than an operator allows. */
export const dataOutdated = 'data_outdated' as const;

function decidedCode({ engine, record, count, denial }: DecisionContext, input: EngineInput): string {
	const started = record === undefined ? 0 : performance.now();
	const code = denial ?? engine.code(input);
	record?.(input, code, performance.now() - started);
	count?.(input, code);
	return code;
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

function reasons({ engine, log, requestId: request_id }: DecisionContext, input: EngineInput, code: string): unknown {
	try {
		return engine.evaluate('regolith/explain/sections', input);
	} catch (error) {
		// The decision stands; only its explanation is missing.
		log.error({ error, request_id }, 'a decision could not be explained');
		return { code };
	}
}
