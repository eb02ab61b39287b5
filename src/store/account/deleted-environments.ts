/**
 * The API keys of environments that were deleted lately, and the sessions of the console there, so that their decision
 * points and pages can be told.
 */

import type { Knex } from 'knex';
import { hashSecret, sameHash } from './secret.js';

/** How long such a key is remembered, in milliseconds: longer than a decision point is likely to be away. */
const memory = 30 * 24 * 3_600_000;

interface Row {
	readonly secret_hash: Uint8Array;
	readonly environment_id: string;
}

/** Remembers the keys and sessions of an environment that is about to be deleted, in the same transaction. */
export async function rememberKeys(transaction: Knex.Transaction, environmentId: string, now: Date): Promise<void> {
	await transaction.raw(
		`insert into deleted_environment_keys (secret_hash, environment_id, deleted_at)
			select secret_hash, environment_id, :now::timestamptz from api_keys where environment_id = :environmentId
			union select secret_hash, environment_id, :now::timestamptz from console_sessions where environment_id = :environmentId
			on conflict (secret_hash) do update set environment_id = excluded.environment_id, deleted_at = excluded.deleted_at`,
		{ environmentId, now },
	);
}

/** The id of the deleted environment that a secret was a key or session of; `null` when it was none, or too long ago. */
export async function findDeletedEnvironment(knex: Knex, secret: string): Promise<string | null> {
	const hash = hashSecret(secret);
	const row = await knex<Row>('deleted_environment_keys').where({ secret_hash: hash }).first();
	return row !== undefined && sameHash(row.secret_hash, hash) ? row.environment_id : null;
}

/** Forgets the keys of what was deleted too long ago. */
export async function forgetOldKeys(knex: Knex, now: Date): Promise<void> {
	const oldest = new Date(now.getTime() - memory);
	await knex('deleted_environment_keys').where('deleted_at', '<', oldest).delete();
}
