import type { Caller } from '../store/account/caller.js';
import type { Scope } from '../store/unit/reading-unit.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';
import type { AuthorizationResult, Query } from '../wire/decision/check.js';
import type { Impact, ImpactLimits } from '../wire/general/impact.js';

/** A change that is tried, by whom, and who waits. */
export interface ImpactTrial {
	readonly scope: Scope;
	/** Who asks. */
	readonly caller: Caller;
	/** Makes the change in a unit that is rolled back. What it throws is why the change cannot be made. */
	readonly change: (unit: WritingUnit) => Promise<unknown>;
	readonly limits: ImpactLimits;
	/** Aborts when the client has gone. */
	readonly closed: AbortSignal;
}

/** A check that is explained. */
export interface ExplainedCheck {
	readonly scope: Scope;
	readonly query: Query;
	readonly revision: number;
	/** The token that the revision has to have; `null` for any. */
	readonly token: string | null;
	/** When it is decided. */
	readonly time: Date;
	/** Aborts when the client has gone. */
	readonly closed: AbortSignal;
}

/** What compares states of environments. */
export interface ImpactSource {
	/**
	 * Finds who gains and who loses by a change. Rejects with what the change throws, and with `Failure`: `busy`,
	 * `unavailable`, `unprocessable` for a schema that does not compile, and `conflict` while the environment changes too
	 * often.
	 */
	find(trial: ImpactTrial): Promise<Impact>;
	/**
	 * Explains a check at a revision. Rejects with `Failure`: `not_found` for a revision that there is not, `not_kept` for
	 * one that is no longer kept, `busy` and `unavailable`.
	 */
	explain(asked: ExplainedCheck): Promise<AuthorizationResult>;
}
