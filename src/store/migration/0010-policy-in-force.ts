import type { Knex } from 'knex';

/**
 * The schema that the policy in force was compiled from, which tells what a newer schema takes away from it, and what
 * was left out of the policy. `layout` is that of the data which the policy reads.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	'alter table publications add column layout integer',
	'alter table publications add column schema jsonb',
	"alter table publications add column left_out jsonb not null default '[]'",
	`create index changes_of_schema on changes (environment_id, revision) where kind in
		('resource', 'resource_action', 'relation', 'role', 'condition_set', 'condition_set_rule')`,
] as const;
