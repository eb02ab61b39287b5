import type { Schema } from '../../compiler/model.js';
import { clientGone } from '../limit/turns.js';
import type { Caller } from '../store/account/caller.js';
import { readSchema } from '../store/model/model.js';
import type { Store } from '../store/store.js';
import { type Change, schemaKinds } from '../store/unit/change.js';
import type { Scope } from '../store/unit/reading-unit.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';
import type { Draft } from '../wire/general/draft.js';
import { applyDraft } from './draft.js';

/** Maximum duration of a preview, in seconds. The environment's writers may have to wait for it. */
const maxSeconds = 10;

/** The caller of a preview. */
export interface Asker {
	readonly caller: Caller | null;
	/** Aborts when the client disconnects. A preview that has not started is then canceled. */
	readonly closed: AbortSignal;
}

/** A draft's effect on an environment. */
export interface TriedDraft<T> {
	/** The environment's revision on which the draft was tried. */
	readonly revision: number;
	readonly schemaBefore: Schema;
	/** The schema with the draft. It is the same object as `schemaBefore` if the draft does not change the schema. */
	readonly schemaAfter: Schema;
	/**
	 * The draft's changes, including cascades. Each object is listed once. Ids and times of new objects are temporary.
	 */
	readonly changes: readonly Change[];
	/** Result from `inUnit`. */
	readonly read: T;
}

/**
 * Applies a draft like `applyDraft` in a unit that is rolled back. Before the rollback, `inUnit` reads the state with
 * the draft. `inUnit` must not write and must be short, because the environment's writers may have to wait. Throws like
 * `applyDraft`, `limit_reached` if the preview takes too long, and `unavailable` if the client disconnects before the
 * preview starts.
 */
export async function tryDraft<T>(
	store: Store,
	scope: Scope,
	{ caller, closed }: Asker,
	draft: Draft,
	inUnit: (unit: WritingUnit) => Promise<T>,
): Promise<TriedDraft<T>> {
	// Read the schema outside the unit, because a snapshot blocks no writers.
	const known = await store.snapshot(scope.environment_id, async (unit, { schema_revision }) => {
		return { schema_revision, schema: await readSchema(unit) };
	});
	const work = async (unit: WritingUnit): Promise<TriedDraft<T>> => {
		if (closed.aborted) throw clientGone();
		await unit.endWithin(maxSeconds);
		const { revision, schema_revision } = await unit.counters();
		const schemaBefore = schema_revision === known.schema_revision ? known.schema : await readSchema(unit);
		await applyDraft(unit, draft);
		const { changes } = unit;
		const changesSchema = changes.some(({ kind }) => schemaKinds.has(kind));
		const schemaAfter = changesSchema ? await readSchema(unit) : schemaBefore;
		return { revision, schemaBefore, schemaAfter, changes, read: await inUnit(unit) };
	};
	return (await store.tryOut(scope, caller, work)).value;
}
