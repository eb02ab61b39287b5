/** What an engine answers from, wherever it comes from. */

import type { SliceScheduler } from '../../../src/limit/slice-scheduler.js';
import type { EventLog } from '../../../src/log.js';
import type { DecisionContext } from '../../../src/pdp/decide/decide.js';
import type { Leases } from '../../../src/pdp/follow/leases.js';
import type { WantedRevision } from '../../../src/pdp/follow/progress.js';
import type { EngineState } from './api.js';

/** One revision, as far as decisions need it. Without a number when it is not known. */
export type HeldRevision = Pick<DecisionContext, 'engine' | 'facts'> & {
	readonly lineage?: string;
	readonly revision: number | undefined;
	readonly policyRevision: number | undefined;
};

/** Who holds the revision, replaces it, and lets go of it. */
export interface RevisionHolder {
	/** The revision in use; `undefined` when there is none. */
	current(): HeldRevision | undefined;
	readonly state: EngineState;
	readonly leases: Leases;
	readonly scheduler: SliceScheduler;
	/**
	 * Resolves once answers come from a revision or a later one, by its policy. Rejects when the signal aborts, or it
	 * never comes.
	 */
	policyReached(wanted: WantedRevision, signal: AbortSignal): Promise<void>;
	/** Lets go. Resolves when nothing runs any more. */
	stop(): Promise<void>;
}

const nothing = () => undefined;

/** A log that says nothing: a library does not write to its user's output. */
export const silent: EventLog = {
	debug: nothing,
	info: nothing,
	warn: nothing,
	error: nothing,
	isLevelEnabled: () => false,
};
