import type { Knex } from 'knex';

/**
 * A past policy's schema, as gzipped JSON. It replaces the tables and tests generated from the schema, which are ten
 * times longer and rarely requested. `layout` is the table layout. Older rows keep their files and have neither.
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
