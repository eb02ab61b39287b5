/** Requests that read one revision over several turns of the event loop. */

import { Failure } from '../failure.js';
import type { Deciding } from './decide.js';
import type { Steps } from './engine/steps.js';
import type { Leases, ReaderKind } from './leases.js';
import { NotWanted, type Turns } from './turns.js';

/** What requests are read with. */
export interface ReadingOptions {
	/** What is in force now. Throws `Failure` (`unavailable`) when there is nothing. */
	readonly now: () => Deciding;
	readonly leases: Leases;
	readonly turns: Turns;
	/** How much processor time one request may take, in milliseconds. */
	readonly budget: number;
}

/** A result and the revision that all of it comes from. */
export interface Read<T> extends Pick<Deciding, 'revision' | 'policyRevision'> {
	readonly result: T;
}

/** One request that is read: what kind it is, how it is done, and the signal that its client has gone away. */
export interface Request<T> {
	readonly kind: ReaderKind;
	readonly work: (deciding: Deciding) => Steps<T>;
	readonly closed?: AbortSignal;
}

/** Does the work of one request. */
export type Reading = <T>(request: Request<T>) => Promise<Read<T>>;

/**
 * Makes `Reading`. Work whose revision has changed under it begins anew: a batch once, a listing until it keeps its
 * revision, which it does the second time. Rejects with `Failure` (`unavailable`) when a batch has lost its revision
 * twice, when the budget is spent, or when there is nothing to read any more, and as the work throws.
 */
export function reading({ now, leases, turns, budget }: ReadingOptions): Reading {
	return async ({ kind, work, closed }) => {
		const spend = meter(budget);
		for (let attempt = 1; ; attempt += 1) {
			const lease = await leases.take(kind, attempt > 1);
			try {
				const deciding = now();
				const { revision, policyRevision } = deciding;
				const wanted = () => !lease.lost && closed?.aborted !== true;
				return { revision, policyRevision, result: await turns.run(work(deciding), { wanted, spend }) };
			} catch (error) {
				if (!(error instanceof NotWanted)) throw error;
				if (closed?.aborted === true) throw new Failure('unavailable', 'the client went away');
				if (kind === 'batch' && attempt === 2) throw overtaken();
			} finally {
				lease.release();
			}
		}
	};
}

/** Counts processor time; throws when there is too much. */
function meter(budget: number): (milliseconds: number) => void {
	let spent = 0;
	return (milliseconds) => {
		spent += milliseconds;
		if (spent <= budget) return;
		throw new Failure('unavailable', `the answer takes more than ${budget / 1000} s of processor time: ask for less`);
	};
}

function overtaken(): Failure {
	return new Failure('unavailable', 'the revision changed twice meanwhile: ask for fewer checks at once');
}
