import { delta, type Patch, type Schema } from '../../compiler/index.js';
import type { Caller } from '../store/account/caller.js';
import { type TouchedRows, touchedIn } from '../store/history/touched-since.js';
import { concernsClosures, readNeighbourhood, readNeighbourhoodWithoutClosures } from '../store/model/neighbourhood.js';
import type { Store } from '../store/store.js';
import type { Scope } from '../store/unit/reading-unit.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';
import type { LiveHead } from './head.js';
import { stepSince } from './step-since.js';

/** Maximum duration of a trial in seconds, because the environment's writers may wait for it. */
const maxTrialSeconds = 10;

/** State of an environment's data, with a policy. */
export type DataState = Pick<LiveHead, 'lineage' | 'revision' | 'token' | 'digest' | 'pending'>;

export interface Trial<T> {
	readonly scope: Scope;
	/** Calling user or key. */
	readonly caller: Caller;
	/** Applies the change. Throws if the change is impossible. */
	readonly change: (unit: WritingUnit) => Promise<T>;
}

/** Effect of a change on the data. */
export interface TriedChange<T = unknown> {
	/** Value returned by the change. */
	readonly result: T;
	/** Head to which the change is applied, with patches that lead from the caller's state to the head. */
	readonly base: { readonly head: LiveHead; readonly patches: readonly Patch[] };
	/** Patches that lead from the head to the state after the change. */
	readonly patches: readonly Patch[];
	readonly touched: TouchedRows;
	/** Schema after the change; `null` if the change does not touch the schema. */
	readonly schema: Schema | null;
	/** Inputs to recompute all closures; `null` if the patches contain the closures, or if no closure has changed. */
	readonly closures: { readonly schema: Schema; readonly in_force: Schema | null } | null;
}

/**
 * Applies a change in a unit that is rolled back, and returns its effect on the data since `held`. Compiles nothing,
 * because writers may wait for the unit. Returns `moved` if the active policy differs from the policy in `seen`, or if
 * `held` is too old or belongs to a history with lost revisions. Rejects with errors from the change, and `not_found`.
 */
export async function tryChange<T>(
	store: Store,
	{ scope, caller, change }: Trial<T>,
	held: DataState,
	seen: LiveHead,
): Promise<TriedChange<T> | 'moved'> {
	const work = async (unit: WritingUnit): Promise<TriedChange<T> | 'moved'> => {
		await unit.endWithin(maxTrialSeconds);
		const base = await stepSince(unit, await unit.counters(), held, seen);
		if (typeof base === 'string') return 'moved';
		const result = await change(unit);
		return { result, base, ...(await changesIn(unit, base.head)) };
	};
	return (await store.tryOut(scope, caller, work)).value;
}

async function changesIn(unit: WritingUnit, { pending }: LiveHead): Promise<Omit<TriedChange, 'base' | 'result'>> {
	const logged = touchedIn(unit.changes);
	// The policy for a changed schema suspends nothing. If the schema does not change, an existing suspension under an
	// older policy continues.
	const ends = logged.schema && pending !== null;
	const touched = { ...logged, pending: ends, derivations: ends || logged.derivations };
	const inForce = logged.schema || pending === null ? null : await unit.schemaInForce();
	const known = await readNeighbourhood(unit, touched, inForce);
	const now = known ?? (await readNeighbourhoodWithoutClosures(unit, touched, inForce));
	const anew = known === null && concernsClosures(touched) && now.schema !== null;
	return {
		patches: delta(touched, now),
		touched,
		schema: touched.schema ? now.schema : null,
		closures: anew ? { schema: now.schema, in_force: now.in_force } : null,
	};
}
