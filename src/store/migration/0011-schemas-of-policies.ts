import type { Knex } from 'knex';

/**
 * The schema that a past policy was compiled from, as gzipped JSON. It replaces the tables and tests made from the
 * schema, which are ten times as long and rarely asked for. `layout` is that of the tables. Older rows keep their files
 * and have neither.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	'alter table policy_revisions add column layout integer',
	'alter table policy_revisions add column schema bytea',
	'alter table policy_revisions alter column schema set storage external',
	"alter table policy_revisions alter column files set default '[]'",
] as const;
