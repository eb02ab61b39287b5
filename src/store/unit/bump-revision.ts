import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { notFound } from '../../failure.js';
import { rowChunks } from '../query/row-chunks.js';
import { type Change, schemaKinds } from './change.js';
import { writeAhead } from './write-ahead.js';

/** A unit's changes, author and time. */
export interface RevisionEntry {
	readonly changes: readonly Change[];
	/** API key or element user that wrote; `null` for the server itself. */
	readonly actorId: string | null;
	readonly now: Date;
}

/**
 * Bumps an environment's revision for each entry with changes, in order, and logs the changes under these revisions.
 * Must be the last step before the commit. Returns the environment's revision after each entry. Throws `not_found`.
 */
export async function bumpRevision(
	database: Knex,
	environmentId: string,
	entries: readonly RevisionEntry[],
): Promise<readonly number[]> {
	const steps = revisionSteps(entries);
	const last = steps.at(-1) ?? 0;
	const schemaStep = steps[entries.findLastIndex(({ changes }) => changes.some(({ kind }) => schemaKinds.has(kind)))];
	const base = (await bumpCounters(database, environmentId, last, schemaStep)) - last;
	const revisions = steps.map((step) => base + step);
	// A unit may have a million changes, so their rows are created while earlier rows are sent.
	const logging = writeAhead(rowChunks(changeRows(entries, revisions)), ([, rows]) => {
		const bindings = { environment_id: environmentId, ...changeColumns(rows) };
		return async () => database.raw<unknown>(insertion, bindings);
	});
	for await (const _ of logging);
	return revisions;
}

/** Takes a list per column, which is shorter and faster to read than an object per row. */
const insertion = `insert into changes
	(environment_id, revision, position, kind, operation, key, before, after, actor_id, created_at, token)
	select :environment_id, revision, position, kind, operation, key, nullif(before, 'null'), nullif(after, 'null'),
		nullif(actor_id, '')::uuid, created_at, nullif(token, '')
	from rows from (
		unnest(:revisions::bigint[]), unnest(:positions::integer[]), unnest(:kinds::text[]), unnest(:operations::text[]),
		unnest(:keys::text[]), jsonb_array_elements(:before::jsonb), jsonb_array_elements(:after::jsonb),
		unnest(:actors::text[]), unnest(:times::timestamptz[]), unnest(:tokens::text[])
	) as logged (revision, position, kind, operation, key, before, after, actor_id, created_at, token)`;

/** Returns for each entry the number of entries with changes, up to and including this entry. */
function revisionSteps(entries: readonly RevisionEntry[]): readonly number[] {
	let step = 0;
	return entries.map(({ changes }) => {
		if (changes.length > 0) step += 1;
		return step;
	});
}

/** Bumps an environment's counters and returns the new revision. Writes nothing if no entry has changes. */
async function bumpCounters(
	database: Knex,
	environmentId: string,
	steps: number,
	schemaStep: number | undefined,
): Promise<number> {
	const { rows } = await database.raw<{ rows: readonly { readonly revision: number }[] }>(
		steps === 0 ? reading : bumping,
		steps === 0 ? [environmentId] : [steps, schemaStep ?? null, environmentId],
	);
	const [row] = rows;
	if (row === undefined) throw notFound('Environment', environmentId);
	return row.revision;
}

const reading = 'select revision from "environments" where id = ?';

/** Statement that bumps the counters, and notifies listeners when the transaction commits. */
const bumping = `update "environments" set revision = revision + ?,
		schema_revision = coalesce(revision + ?::bigint, schema_revision)
	where id = ? returning revision, pg_notify('regolith_revision', id::text) as notified`;

/** Length of a revision's random token, in bytes. */
const tokenBytes = 8;

/** A change log row, without the environment. */
interface ChangeRow {
	readonly change: Change;
	readonly entry: RevisionEntry;
	readonly revision: number;
	/** Index in the revision. */
	readonly position: number;
}

/** Yields the change log rows for these entries. `revisions` contains each entry's revision. */
function* changeRows(entries: readonly RevisionEntry[], revisions: readonly number[]): Generator<ChangeRow> {
	for (const [index, entry] of entries.entries()) {
		const revision = revisions[index] ?? Number.NaN;
		for (const [position, change] of entry.changes.entries()) yield { change, entry, revision, position };
	}
}

/**
 * Returns the rows' columns. The first row for a revision contains the revision's token, which is unique across
 * histories.
 */
function changeColumns(rows: readonly ChangeRow[]) {
	return {
		revisions: rows.map(({ revision }) => revision),
		positions: rows.map(({ position }) => position),
		kinds: rows.map(({ change }) => change.kind),
		operations: rows.map(({ change }) => change.operation),
		keys: rows.map(({ change }) => change.key),
		before: JSON.stringify(rows.map(({ change }) => change.before)),
		after: JSON.stringify(rows.map(({ change }) => change.after)),
		actors: rows.map(({ entry }) => entry.actorId ?? ''),
		times: rows.map(({ entry }) => entry.now.toISOString()),
		tokens: rows.map(({ position }) => (position === 0 ? randomBytes(tokenBytes).toString('hex') : '')),
	};
}
