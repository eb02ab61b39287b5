/** API keys and console sessions of recently deleted environments, used to inform their decision points and pages. */

import type { Knex } from 'knex';
import { hashSecret, sameHash } from './secret.js';

/** Retention period in milliseconds: longer than a decision point is likely to be offline. */
const memory = 30 * 24 * 3_600_000;

interface Row {
	readonly secret_hash: Uint8Array;
	readonly environment_id: string;
}

/** Stores an environment's keys and sessions, in the transaction that deletes it. */
export async function rememberKeys(transaction: Knex.Transaction, environmentId: string, now: Date): Promise<void> {
	await transaction.raw(
		`insert into deleted_environment_keys (secret_hash, environment_id, deleted_at)
			select secret_hash, environment_id, :now::timestamptz from api_keys where environment_id = :environmentId
			union select secret_hash, environment_id, :now::timestamptz from console_sessions where environment_id = :environmentId
			on conflict (secret_hash) do update set environment_id = excluded.environment_id, deleted_at = excluded.deleted_at`,
		{ environmentId, now },
	);
}

/** Returns the deleted environment's id for a key or session secret; `null` if it is unknown or too old. */
export async function findDeletedEnvironment(knex: Knex, secret: string): Promise<string | null> {
	const hash = hashSecret(secret);
	const row = await knex<Row>('deleted_environment_keys').where({ secret_hash: hash }).first();
	return row !== undefined && sameHash(row.secret_hash, hash) ? row.environment_id : null;
}

/** Removes entries after the retention period. */
export async function forgetOldKeys(knex: Knex, now: Date): Promise<void> {
	const oldest = new Date(now.getTime() - memory);
	await knex('deleted_environment_keys').where('deleted_at', '<', oldest).delete();
}
