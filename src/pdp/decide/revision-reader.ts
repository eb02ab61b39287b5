/** Serves requests that read a revision over several turns of the event loop. */

import { runToEnd, type Steps } from '../../../compiler/steps.js';
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
	/** Maximum CPU time per request, in milliseconds. */
	readonly budget: number;
}

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
 * listing keeps its revision from the second attempt on. Rejects with `Failure` (`unavailable`) if a batch loses its
 * revision twice, the budget is spent, the data is too old for a listing, the client disconnects, or no revision is
 * available. Also rejects with all errors thrown by `work`.
 */
export function createRevisionReader({ now, leases, scheduler, budget }: RevisionReaderOptions): ReadRevision {
	return async ({ kind, work, closed }) => {
		const spend = meter(budget);
		for (let attempt = 1; ; attempt += 1) {
			const lease = await leases.take(kind, attempt > 1);
			try {
				const current = now();
				const { lineage, revision, policyRevision, decisionId, dataAge } = current;
				if (kind === 'listing' && current.denial === dataOutdated) throw outdated();
				const wanted = () => !lease.lost && closed?.aborted !== true;
				const { context, commit } = keepDecisions(current);
				const result = await scheduler.run(work(context), { wanted, spend });
				lease.release();
				await scheduler.run(commit());
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
				if (closed?.aborted === true) throw new Failure('unavailable', 'the client disconnected');
				if (kind === 'batch' && attempt === 2) throw overtaken();
			} finally {
				lease.release();
			}
		}
	};
}

/**
 * Decides several checks in a single step, if this event loop turn has enough time left and the work takes no
 * longer than a slice or the budget. Returns the result of `work`, or `undefined` without any effect.
 */
export function readAtOnce<T>(
	current: DecisionContext,
	work: (context: DecisionContext) => Steps<T>,
	{ scheduler, budget }: Pick<RevisionReaderOptions, 'scheduler' | 'budget'>,
): { readonly result: T } | undefined {
	const { context, commit } = keepDecisions(current);
	const done = scheduler.runAtOnce(work(context), budget);
	if (done === undefined) return undefined;
	runToEnd(commit());
	return { result: done.value };
}

/**
 * Returns a context that keeps its decisions, to log and count each decision only once even if the work restarts.
 * `commit` logs and counts these decisions.
 */
function keepDecisions({ record, count, ...current }: DecisionContext) {
	const kept: Parameters<RecordDecision>[] = [];
	const counted: Parameters<CountDecision>[] = [];
	const context: DecisionContext = {
		...current,
		...(record && {
			record: (input, code, duration, _, kind) =>
				kept.push([input, code, duration, kind === undefined ? kept.length : undefined, kind]),
		}),
		...(count && { count: (input, code) => counted.push([input, code]) }),
	};
	function* commit(): Steps<void> {
		for (const decision of counted) count?.(...decision);
		if (record !== undefined) yield* forEachItem(kept, (decision) => record(...decision));
	}
	return { context, commit };
}

/** Adds up the CPU time. Throws if the sum exceeds the budget. */
function meter(budget: number): (milliseconds: number) => void {
	let spent = 0;
	return (milliseconds) => {
		spent += milliseconds;
		if (spent <= budget) return;
		throw new Failure('unavailable', `the request takes more than ${budget / 1000} s of CPU time: split the request`);
	};
}

function outdated(): Failure {
	return new Failure('unavailable', 'the data is older than the permitted maximum (PDP_MAX_DATA_AGE)');
}

function overtaken(): Failure {
	return new Failure('unavailable', 'the revision changed twice during the request: send fewer checks per request');
}
