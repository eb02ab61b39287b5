import type { Knex } from 'knex';

/**
 * Database lineages, of which exactly one has not ended, and a random token for each new revision, in the first row of
 * its changes. Earlier revisions have none.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	`create table lineages (
		id text primary key,
		system_identifier text,
		timeline text,
		database_oid text,
		table_oid text,
		row_xid text,
		reason text not null,
		created_at timestamptz not null,
		ended_at timestamptz
	)`,
	'create unique index lineages_current on lineages ((ended_at is null)) where ended_at is null',
	'alter table changes add column token text',
] as const;
