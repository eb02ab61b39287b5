import type { Knex } from 'knex';

/**
 * The API keys of environments that were deleted lately, by their hashes: decision points that have one are told so. They
 * refer to nothing, because what they were of is gone.
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
