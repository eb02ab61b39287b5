/**
 * Compares results from the facts index with the engine. The engine is authoritative: after a difference, the engine
 * computes all listings with the same schema.
 */

import type { Steps } from '../../../compiler/steps.js';
import type { DecisionContext } from '../decide/decide.js';
import { NeedsEngine } from '../facts/compiled-sets.js';
import type { SchemaTables } from '../facts/schema-tables.js';

/** Number of entries compared for each listing. */
export const sampleSize = 16;

/** Schemas whose listings differed. */
const distrusted = new WeakSet<SchemaTables>();

/**
 * Returns the result from the facts index if `isRight` confirms it, and otherwise the result from the engine. The
 * engine is also used while the active policy is older than the schema.
 */
export function* answerWithReferee<T>(
	context: DecisionContext,
	{
		fromFacts,
		isRight,
		byEngine,
	}: {
		readonly fromFacts: () => Steps<T>;
		/** Compares a sample with the engine. */
		readonly isRight: (answer: T) => Steps<boolean>;
		readonly byEngine: () => Steps<T>;
	},
): Steps<T> {
	const { facts, revision, policyRevision, denial } = context;
	if (facts.pending || revision !== policyRevision || denial !== undefined || distrusted.has(facts.schema)) {
		return yield* byEngine();
	}
	try {
		const answer = yield* fromFacts();
		yield;
		if (yield* isRight(answer)) return answer;
	} catch (error) {
		if (error instanceof NeedsEngine) return yield* byEngine();
		throw error;
	}
	distrusted.add(facts.schema);
	context.log.error(
		{ request_id: context.requestId, revision },
		'a listing from the facts index differs from the policy: the policy computes all listings until the schema changes',
	);
	context.countDifference?.();
	return yield* byEngine();
}

/** Returns up to `size` random items, or all items if there are no more. */
export function randomItems<T>(items: readonly T[], size: number): readonly T[] {
	if (items.length <= size) return items;
	return Array.from({ length: size }, () => items[Math.floor(Math.random() * items.length)] as T);
}
