/** The revision that an engine uses, regardless of its source. */

import type { SliceScheduler } from '../../../src/limit/slice-scheduler.js';
import type { EventLog } from '../../../src/log.js';
import type { DecisionContext } from '../../../src/pdp/decide/decide.js';
import type { Leases } from '../../../src/pdp/follow/leases.js';
import type { WantedRevision } from '../../../src/pdp/follow/progress.js';
import type { EngineState } from './api.js';

/** A revision with everything needed for decisions. Without a bundle, its number is unknown. */
export type HeldRevision = Pick<DecisionContext, 'engine' | 'facts'> & {
	readonly lineage?: string;
	readonly revision: number | undefined;
	readonly policyRevision: number | undefined;
};

/** Holds the revision in use, and releases it. */
export interface RevisionHolder {
	/** Returns the revision in use; `undefined` if there is none. */
	current(): HeldRevision | undefined;
	readonly state: EngineState;
	readonly leases: Leases;
	readonly scheduler: SliceScheduler;
	/**
	 * Resolves when the engine uses the wanted revision's policy or a later policy. Rejects if the signal aborts, or if
	 * the wanted revision can never arrive.
	 */
	policyReached(wanted: WantedRevision, signal: AbortSignal): Promise<void>;
	/** Releases the revision. Resolves when no work is running. */
	stop(): Promise<void>;
}

const nothing = () => undefined;

/** Silent log: a library does not write to its user's output. */
export const silent: EventLog = {
	debug: nothing,
	info: nothing,
	warn: nothing,
	error: nothing,
	isLevelEnabled: () => false,
};
