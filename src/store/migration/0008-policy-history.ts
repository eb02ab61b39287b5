import type { Knex } from 'knex';

/**
 * Published policies by schema revision. `files` are generated from the schema besides the Rego, and do not belong to
 * the policy shared by environments.
 */
export async function up(knex: Knex): Promise<void> {
	await knex.raw(`create table policy_revisions (
		environment_id uuid not null references environments on delete cascade,
		schema_revision bigint not null,
		digest text not null references policies,
		files jsonb not null,
		published_at timestamptz not null,
		primary key (environment_id, schema_revision)
	)`);
}
