import type { Knex } from 'knex';

/**
 * The active policy's schema, to find the objects removed by a newer schema, and the objects left out of the policy.
 * `layout` is the layout of the policy's data.
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
