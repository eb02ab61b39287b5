/** Serves requests that read a revision over several turns of the event loop. */

import type { Steps } from '../../../compiler/steps.js';
import { Failure } from '../../failure.js';
import { type SliceScheduler, WorkCancelled } from '../../limit/slice-scheduler.js';
import { forEachItem } from '../engine/chunks.js';
import type { Leases, ReaderKind } from '../follow/leases.js';
import { type CountDecision, type DecisionContext, dataOutdated, type RecordDecision } from './decide.js';

export interface RevisionReaderOptions {
	/** Returns the context for the revision in use. Throws `Failure` (`unavailable`) if there is none. */
	readonly now: () => DecisionContext;
	readonly leases: Leases;
	readonly scheduler: SliceScheduler;
	/** Maximum processor time per request, in milliseconds. */
	readonly budget: number;
}

/** A result and its revision. */
export interface ReadResult<T>
	extends Pick<DecisionContext, 'lineage' | 'revision' | 'policyRevision' | 'decisionId' | 'dataAge'> {
	readonly result: T;
}

/** A request: its kind, its callback `work`, and a signal for client disconnects. */
interface ReadRequest<T> {
	readonly kind: ReaderKind;
	readonly work: (context: DecisionContext) => Steps<T>;
	readonly closed?: AbortSignal;
}

/** Serves a request. */
export type ReadRevision = <T>(request: ReadRequest<T>) => Promise<ReadResult<T>>;

/**
 * Creates a `ReadRevision`. If the revision is lost, `work` restarts at the new revision. A batch restarts once; a
 * listing keeps its revision from the second attempt on. Rejects with `Failure` (`unavailable`) if a batch has lost its
 * revision twice, if the budget is spent, or if no revision is available. Also rejects with all errors thrown by
 * `work`.
 */
export function createRevisionReader({ now, leases, scheduler, budget }: RevisionReaderOptions): ReadRevision {
	return async ({ kind, work, closed }) => {
		const spend = meter(budget);
		for (let attempt = 1; ; attempt += 1) {
			const lease = await leases.take(kind, attempt > 1);
			try {
				const { record, count, ...context } = now();
				const { lineage, revision, policyRevision, decisionId, dataAge } = context;
				if (kind === 'listing' && context.denial === dataOutdated) throw outdated();
				const wanted = () => !lease.lost && closed?.aborted !== true;
				const kept: Parameters<RecordDecision>[] = [];
				const counted: Parameters<CountDecision>[] = [];
				const keeping = {
					...context,
					...(record === undefined ? {} : { record: keepIn(kept) }),
					...(count === undefined ? {} : { count: countIn(counted) }),
				};
				const result = await scheduler.run(work(keeping), { wanted, spend });
				lease.release();
				if (count !== undefined) for (const decision of counted) count(...decision);
				if (record !== undefined && kept.length > 0) await scheduler.run(logAll(kept, record));
				return {
					revision,
					policyRevision,
					result,
					...(lineage === undefined ? {} : { lineage }),
					...(decisionId === undefined ? {} : { decisionId }),
					...(dataAge === undefined ? {} : { dataAge }),
				};
			} catch (error) {
				if (!(error instanceof WorkCancelled)) throw error;
				if (closed?.aborted === true) throw new Failure('unavailable', 'the client went away');
				if (kind === 'batch' && attempt === 2) throw overtaken();
			} finally {
				lease.release();
			}
		}
	};
}

/** Keeps decisions with their indexes, to log each decision once even if `work` restarts. */
function keepIn(kept: Parameters<RecordDecision>[]): RecordDecision {
	return (input, code, duration) => kept.push([input, code, duration, kept.length]);
}

/** Keeps decisions, to count each decision once even if `work` restarts. */
function countIn(counted: Parameters<CountDecision>[]): CountDecision {
	return (input, code) => counted.push([input, code]);
}

/** Logs decisions in steps, because there may be thousands of lines to write. */
function logAll(kept: readonly Parameters<RecordDecision>[], record: RecordDecision): Steps<void> {
	return forEachItem(kept, (decision) => record(...decision));
}

/** Adds up the processor time. Throws if the sum exceeds the budget. */
function meter(budget: number): (milliseconds: number) => void {
	let spent = 0;
	return (milliseconds) => {
		spent += milliseconds;
		if (spent <= budget) return;
		throw new Failure('unavailable', `the answer takes more than ${budget / 1000} s of processor time: ask for less`);
	};
}

function outdated(): Failure {
	return new Failure('unavailable', 'the data is older than this decision point may answer from (PDP_MAX_DATA_AGE)');
}

function overtaken(): Failure {
	return new Failure('unavailable', 'the revision changed twice meanwhile: ask for fewer checks at once');
}
