import type { Knex } from 'knex';

/**
 * Which policy was published at which revision of an environment's schema. `files` are those made of that schema
 * besides the Rego, which are not part of the policy that environments share.
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
