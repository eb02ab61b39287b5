import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { notFound } from '../../failure.js';
import { type Change, schemaKinds } from './change.js';
import { rowChunks } from './row-chunks.js';
import { writeAhead } from './write-ahead.js';

/** What one unit changed, who changed it, and when. */
export interface RevisionEntry {
	readonly changes: readonly Change[];
	/** The API key or the user of elements that wrote; `null` for the server itself. */
	readonly actorId: string | null;
	readonly now: Date;
}

/**
 * Bumps an environment's revision by one for each entry that has changes, in their order, and logs the changes under
 * those revisions: the last thing before the commit. Returns, for each entry, the environment's revision after it.
 * Throws `not_found`.
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
	// One unit may have a million changes: their rows are made as they are sent.
	const logging = writeAhead(rowChunks(changeRows(entries, revisions)), ([, rows]) => {
		const logged = JSON.stringify(rows);
		return async () => database.raw<unknown>(insertion, { environment_id: environmentId, logged });
	});
	for await (const _ of logging);
	return revisions;
}

const insertion = `insert into changes
	(environment_id, revision, position, kind, operation, key, before, after, actor_id, created_at, token)
	select :environment_id, revision, position, kind, operation, key, before, after, actor_id, created_at, token
	from jsonb_to_recordset(:logged) as logged (revision bigint, position integer, kind text, operation text, key text,
		before jsonb, after jsonb, actor_id uuid, created_at timestamptz, token text)`;

/** For each entry, how many entries up to it have changes. */
function revisionSteps(entries: readonly RevisionEntry[]): readonly number[] {
	let step = 0;
	return entries.map(({ changes }) => {
		if (changes.length > 0) step += 1;
		return step;
	});
}

/**
 * Bumps the counters of an environment and returns its revision. Leaves the row alone when there is nothing to count.
 */
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

/** Notifies those who wait for this environment, when this commits. */
const bumping = `update "environments" set revision = revision + ?,
		schema_revision = coalesce(revision + ?::bigint, schema_revision)
	where id = ? returning revision, pg_notify('regolith_revision', id::text) as notified`;

/** The length of the random token of a revision, in bytes. */
const tokenBytes = 8;

/**
 * The rows of the change log for these entries, whose revisions are at the same places. The first row of each revision
 * has its token, which no other history repeats.
 */
function* changeRows(entries: readonly RevisionEntry[], revisions: readonly number[]): Generator<object> {
	for (const [index, { changes, actorId, now }] of entries.entries()) {
		const revision = revisions[index];
		for (const [position, change] of changes.entries()) {
			const token = position === 0 ? randomBytes(tokenBytes).toString('hex') : null;
			yield { ...change, revision, position, actor_id: actorId, created_at: now, token };
		}
	}
}
