import type { Knex } from 'knex';

/**
 * Columns that identify the database in which a lineage began, with SQL for their current values. The last two columns
 * identify the row itself: after a restore, the table has a different id, and the row has a different transaction id.
 */
const expressions = {
	system_identifier: '(select system_identifier::text from pg_control_system())',
	// A standby has no separate timeline, and accepts no writes.
	timeline: 'case when not pg_is_in_recovery() then substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end',
	database_oid: '(select oid::text from pg_database where datname = current_database())',
	table_oid: 'lineages.tableoid::text',
	row_xid: 'lineages.xmin::text',
} as const;

/** A lineage column that identifies the database. */
export type OriginColumn = keyof typeof expressions;

/** SQL for the current column values; SQL for null if the database does not offer the value. */
export type Origin = Readonly<Record<OriginColumn, string>>;

/** SQL for a value that the database does not offer. */
export const unknown = 'null::text';

/** PostgreSQL's codes for missing or forbidden features. */
const notOffered = /^(0A|42)/;

/**
 * Determines which values the database offers. Some PostgreSQL-compatible databases lack the functions or system
 * columns.
 */
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
