/** Long listings, in steps between which others are answered, and all at one revision nevertheless. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Deciding } from './decide.js';

/** Work that may be interrupted wherever it yields. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** How often work is begun anew because the revision changed meanwhile; then it is done in one go. */
const restarts = 3;

/** A result and what it comes from. */
export interface Paced<T> extends Pick<Deciding, 'revision' | 'policyRevision'> {
	readonly result: T;
}

/**
 * Does work that reads one revision. Where it yields, checks and new revisions get their turn; if a revision comes, what
 * was done is thrown away, and a writer who never rests cannot keep the work from its end. Rejects as `now` and the
 * work throw.
 */
export async function paced<T>(now: () => Deciding, work: (deciding: Deciding) => Steps<T>): Promise<Paced<T>> {
	for (let attempt = 0; ; attempt += 1) {
		const deciding = now();
		const steps = work(deciding);
		for (let step = steps.next(); ; step = steps.next()) {
			if (step.done) {
				const { revision, policyRevision } = deciding;
				return { revision, policyRevision, result: step.value };
			}
			if (attempt === restarts) continue;
			await nextTurn();
			if (!isSame(deciding, now())) break;
		}
	}
}

/** The parts of a list, each of at most `size`. */
export function* parts<T>(list: readonly T[], size: number): Iterable<readonly T[]> {
	for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size);
}

function isSame(one: Deciding, other: Deciding): boolean {
	return one.revision === other.revision && one.engine === other.engine;
}
