import type { Knex } from 'knex';

/**
 * The columns of a lineage that identify the database it was begun in, each with the SQL of its present value. The last
 * two are of the row itself: a table that was restored has another id, and a row that was restored another transaction.
 */
const expressions = {
	system_identifier: '(select system_identifier::text from pg_control_system())',
	// A standby has no timeline of its own, and takes no writes.
	timeline: 'case when not pg_is_in_recovery() then substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end',
	database_oid: '(select oid::text from pg_database where datname = current_database())',
	table_oid: 'lineages.tableoid::text',
	row_xid: 'lineages.xmin::text',
} as const;

/** A column of a lineage that identifies the database. */
export type OriginColumn = keyof typeof expressions;

/** The SQL of the present values of these columns; `null` for values that the database does not offer. */
export type Origin = Readonly<Record<OriginColumn, string>>;

/** SQL of a value that the database does not offer. */
export const unknown = 'null::text';

/** PostgreSQL's codes for what a database lacks or does not permit. */
const notOffered = /^(0A|42)/;

/** Finds out which values the database offers: some compatible databases lack the functions or system columns. */
export async function readOrigin(knex: Knex): Promise<Origin> {
	const offered = async (sql: string): Promise<string> => {
		try {
			await knex.raw(`select ${sql} from (select 1) as one left join lineages on lineages.ended_at is null`);
			return sql;
		} catch (error) {
			if (!notOffered.test(String((error as { readonly code?: unknown }).code))) throw error;
			return unknown;
		}
	};
	const found: [string, string][] = [];
	for (const [column, sql] of Object.entries(expressions)) found.push([column, await offered(sql)]);
	return Object.fromEntries(found) as Origin;
}
