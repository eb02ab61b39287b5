import type { Knex } from 'knex';

/**
 * The schema that a policy of the past was compiled from, as gzipped JSON, in place of the tables and tests that are made
 * of it: those are ten times as long, and hardly ever asked for. `layout` is that of the tables. Rows of before keep
 * their files, and have neither.
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
