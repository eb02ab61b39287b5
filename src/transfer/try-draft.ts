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

/** Maximum seconds for a preview. The environment's writers may wait for it. */
const maxSeconds = 10;

/** Preview caller. */
export interface Asker {
	readonly caller: Caller | null;
	/** Aborts when the client disconnects. The preview then does not start. */
	readonly closed: AbortSignal;
}

/** Effect on an environment. */
export interface TriedDraft<T> {
	/** Base revision of the preview. */
	readonly revision: number;
	readonly schemaBefore: Schema;
	/** Schema with the draft; the same object as `schemaBefore` if the draft does not change it. */
	readonly schemaAfter: Schema;
	/** Changes by the draft, each object once, including cascades. Ids and times for new objects are temporary. */
	readonly changes: readonly Change[];
	/** Result from `inUnit`. */
	readonly read: T;
}

/**
 * Applies a draft like `applyDraft` in a unit that is rolled back. Before the rollback, `inUnit` reads from the drafted
 * state. It must not write and must be short, because the environment's writers may wait. Throws like `applyDraft`,
 * `limit_reached` if the preview takes too long, and `unavailable` if the client disconnects before it begins.
 */
export async function tryDraft<T>(
	store: Store,
	scope: Scope,
	{ caller, closed }: Asker,
	draft: Draft,
	inUnit: (unit: WritingUnit) => Promise<T>,
): Promise<TriedDraft<T>> {
	// Read outside the unit, because a snapshot blocks no writer.
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
