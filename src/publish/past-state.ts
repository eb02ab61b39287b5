import type { PastFact } from '../../compiler/data/delta.js';
import { layout, type Schema } from '../../compiler/index.js';
import { Failure } from '../failure.js';
import { readSchema } from '../store/model/model.js';
import { readPastFacts } from '../store/model/past-facts.js';
import type { PolicyStore } from '../store/policy/policy-store.js';
import type { Store } from '../store/store.js';
import type { DataState } from './try-change.js';

/** Difference between a past revision and a later state. */
export interface PastState {
	/** Facts that changed after the revision, with their values at the revision. */
	readonly facts: readonly PastFact[];
	/** Schema at the revision, if it differs. */
	readonly schema: Schema | null;
	/** Schema that determined the closures. */
	readonly closures: Schema;
	/** Policy module at the revision, if it differs. */
	readonly policy: Uint8Array | null;
}

/** Revision, with the maximum number of changes after it. */
export interface PastRevision {
	readonly revision: number;
	readonly most: number;
}

/**
 * Returns the difference between an environment revision and a later state. Returns `null` if the schema has changed
 * since the later state, or if this database's history does not contain that state. Rejects with `Failure` (`not_kept`)
 * if too many facts have changed since the revision, or if the revision's policy is unknown.
 */
export async function pastState(
	store: Store,
	policies: PolicyStore,
	environmentId: string,
	{ revision, most }: PastRevision,
	held: DataState,
): Promise<PastState | null> {
	const { revision: upTo, digest, pending } = held;
	const read = await store.snapshot(environmentId, async (unit, { schema_revision }, { lineage }) => {
		if (schema_revision > upTo || lineage !== held.lineage || (await unit.tokenAt(upTo)) !== held.token) return null;
		const facts = await readPastFacts(unit, { after: revision, upTo }, most);
		if (facts === null) throw notKept(revision, `more than ${most} objects have changed since`);
		const isSame = schema_revision <= revision && pending === null;
		return { facts, unchanged: isSame ? await readSchema(unit) : null };
	});
	if (read === null) return null;
	const { facts, unchanged } = read;
	if (unchanged !== null) return { facts, schema: null, closures: unchanged, policy: null };
	// These calls run outside the snapshot, because they need the embedded database's only connection.
	const compiled = await policies.history.compiledAt(environmentId, revision);
	if (compiled === null) throw notKept(revision, 'its policy is no longer stored');
	if (compiled.layout !== layout) throw notKept(revision, 'its policy was compiled by an earlier version');
	const change = await store.schemaChangeAfter(environmentId, compiled.schema_revision);
	if (change !== null && change.revision <= revision) {
		throw notKept(revision, `its schema was not compiled, only the schema of revision ${compiled.schema_revision}`);
	}
	const { schema } = compiled;
	if (compiled.digest === digest) return { facts, schema, closures: schema, policy: null };
	const policy = await policies.wasm(compiled.digest);
	if (policy === null) throw notKept(revision, 'its policy is no longer stored');
	return { facts, schema, closures: schema, policy };
}

function notKept(revision: number, why: string): Failure {
	return new Failure('not_kept', `revision ${revision} is no longer stored: ${why}`, { revision });
}
