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

/** How long a draft may be tried out, in seconds: the writers of the environment wait meanwhile. */
const maxSeconds = 10;

/** Who tries a draft out. */
export interface Asker {
	readonly caller: Caller | null;
	/** Aborts when the client has gone: then nothing is tried out any more. */
	readonly closed: AbortSignal;
}

/** What a draft would make of an environment. */
export interface TriedDraft<T> {
	/** The revision of the environment that it was tried out on. */
	readonly revision: number;
	readonly schemaBefore: Schema;
	/** With the draft; the same object as `schemaBefore` where nothing of it would change. */
	readonly schemaAfter: Schema;
	/** What would change, each object once, with what goes by cascade. Ids of new objects and times are made up. */
	readonly changes: readonly Change[];
	/** What `inUnit` has returned. */
	readonly read: T;
}

/**
 * Tries a draft out on an environment and leaves nothing of it: as `applyDraft`, in a unit of work that is rolled back.
 * `inUnit` reads what else is wanted of the drafted state, before that. It must not write, and be short, because the
 * writers of the environment wait for it. Throws as `applyDraft`, `limit_reached` if it takes too
 * long, and `unavailable` if the client goes away before it begins.
 */
export async function tryDraft<T>(
	store: Store,
	scope: Scope,
	{ caller, closed }: Asker,
	draft: Draft,
	inUnit: (unit: WritingUnit) => Promise<T>,
): Promise<TriedDraft<T>> {
	// Read before the unit, because nobody waits for a snapshot.
	const known = await store.snapshot(scope.environment_id, async (unit, { schema_revision }) => {
		return { schema_revision, schema: await readSchema(unit) };
	});
	const work = async (unit: WritingUnit): Promise<TriedDraft<T>> => {
		if (closed.aborted) throw clientGone();
		unit.abandon();
		await unit.endWithin(maxSeconds);
		const { revision, schema_revision } = await unit.counters();
		const schemaBefore = schema_revision === known.schema_revision ? known.schema : await readSchema(unit);
		await applyDraft(unit, draft);
		const { changes } = unit;
		const changesSchema = changes.some(({ kind }) => schemaKinds.has(kind));
		const schemaAfter = changesSchema ? await readSchema(unit) : schemaBefore;
		return { revision, schemaBefore, schemaAfter, changes, read: await inUnit(unit) };
	};
	// A heavy unit has a transaction of its own, as `applyDraft` requires.
	return (await store.write(scope, caller, work, { heavy: true })).value;
}
