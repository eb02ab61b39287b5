import type { Caller } from '../store/account/caller.js';
import type { CheckTest } from '../store/table/check-test.js';
import type { Scope } from '../store/unit/reading-unit.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';
import type { AuthorizationResult, Query } from '../wire/decision/check.js';
import type { CheckTestResults } from '../wire/general/check-test-run.js';
import type { Impact, ImpactLimits } from '../wire/general/impact.js';

/** Change to try. */
export interface Trial<T> {
	readonly scope: Scope;
	readonly caller: Caller;
	/** Applies the change in a unit of work, which is then rolled back. Throws if the change is impossible. */
	readonly change: (unit: WritingUnit) => Promise<T>;
	/** Aborts when the client disconnects. */
	readonly closed: AbortSignal;
}

/** Change whose impact is requested. */
export interface ImpactTrial extends Trial<unknown> {
	readonly limits: ImpactLimits;
}

export interface ExplainedCheck {
	readonly scope: Scope;
	readonly query: Query;
	readonly revision: number;
	/** Revision token required by the check; `null` for any revision. */
	readonly token: string | null;
	/** Time at which to decide. */
	readonly time: Date;
	/** Aborts when the client disconnects. */
	readonly closed: AbortSignal;
}

/** Compares environment states. */
export interface ImpactSource {
	/**
	 * Finds the access that a change adds and removes. Rejects with errors from the change, and with `Failure`: `busy`,
	 * `unavailable`, `unprocessable` for a schema that does not compile, and `conflict` while the environment changes too
	 * often.
	 */
	find(trial: ImpactTrial): Promise<Impact>;
	/** Runs the check tests returned by a change, after the change. Rejects like `find`. */
	test(trial: Trial<readonly CheckTest[]>): Promise<CheckTestResults>;
	/**
	 * Explains a check at a revision. Rejects with `Failure`: `not_found` for an unknown revision, `not_kept` for a
	 * revision that is no longer stored, `busy` and `unavailable`.
	 */
	explain(asked: ExplainedCheck): Promise<AuthorizationResult>;
	/**
	 * Writes a test for a check at a revision. Rejects like `explain`, and with `Failure` (`conflict`) while the
	 * revision's policy is not active.
	 */
	writeTest(asked: ExplainedCheck): Promise<string>;
}
