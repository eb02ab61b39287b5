import type { Knex } from 'knex';

/**
 * API keys of recently deleted environments, by hash, to inform decision points with such a key. They have no
 * references, because their environments are gone.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	`create table deleted_environment_keys (
		secret_hash bytea primary key,
		environment_id uuid not null,
		deleted_at timestamptz not null
	)`,
	'create index deleted_environment_keys_age on deleted_environment_keys (deleted_at)',
] as const;
