import { delta, type Patch, type Schema } from '../../compiler/index.js';
import type { Caller } from '../store/account/caller.js';
import { concernsClosures, readNeighbourhood, readNeighbourhoodWithoutClosures } from '../store/model/neighbourhood.js';
import type { Store } from '../store/store.js';
import { type TouchedRows, touchedIn } from '../store/unit/change-log.js';
import type { Scope } from '../store/unit/reading-unit.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';
import type { LiveHead } from './head.js';
import { stepSince } from './step-since.js';

/** How long a change may be tried, in seconds: the writers of the environment wait meanwhile. */
const maxTrialSeconds = 10;

/** A state of an environment's data, with a policy. */
export interface DataState {
	/** As `Head.lineage`. */
	readonly lineage: string;
	readonly revision: number;
	/** As `Head.token`. */
	readonly token: string;
	/** The digest of the policy in force. */
	readonly digest: string;
	/** As `Head.pending`. */
	readonly pending: string | null;
}

/** A change that is tried. */
export interface Trial {
	readonly scope: Scope;
	/** Who wants to know. */
	readonly caller: Caller;
	/** Makes the change. What it throws is why the change cannot be made. */
	readonly change: (unit: WritingUnit) => Promise<unknown>;
}

/** What a change would do to the data. */
export interface TriedChange {
	/** What it is made to: the newest revision. Patches lead there from the state that was asked for. */
	readonly base: { readonly head: LiveHead; readonly patches: readonly Patch[] };
	/** Lead from there to the state after the change. */
	readonly patches: readonly Patch[];
	readonly touched: TouchedRows;
	/** The schema after the change; `null` when it does not touch the schema. */
	readonly schema: Schema | null;
	/** What all closures are to be computed from anew; `null` when the patches have them, or none changed. */
	readonly closures: { readonly schema: Schema; readonly in_force: Schema | null } | null;
}

/**
 * Makes a change in a unit of work that is rolled back, and tells what it would do to the data since `held`. The writers
 * of the environment wait meanwhile, so nothing is compiled here. `moved` when another policy than that of the head that
 * the caller saw is in force, or `held` is too old or of a history that was cut. Rejects with what the change throws, and `not_found`.
 */
export async function tryChange(
	store: Store,
	{ scope, caller, change }: Trial,
	held: DataState,
	seen: LiveHead,
): Promise<TriedChange | 'moved'> {
	const work = async (unit: WritingUnit): Promise<TriedChange | 'moved'> => {
		unit.abandon();
		await unit.endWithin(maxTrialSeconds);
		const base = await stepSince(unit, await unit.counters(), held, seen);
		if (typeof base === 'string') return 'moved';
		await change(unit);
		return { base, ...(await changesIn(unit, base.head)) };
	};
	// It may take long: others are not to wait in the same transaction.
	return (await store.write(scope, caller, work, { heavy: true })).value;
}

async function changesIn(unit: WritingUnit, { pending }: LiveHead): Promise<Omit<TriedChange, 'base'>> {
	const logged = touchedIn(unit.changes);
	// The policy of the changed schema suspends nothing. That of an older one goes on when the schema stays.
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
