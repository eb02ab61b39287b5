import type { ReadingUnit } from '../../src/store/unit/reading-unit.js';

/**
 * Returns the number of rows read from a table in the unit's transaction, by scan or index. Includes reads shortly
 * before the unit, so callers subtract an earlier count.
 */
export async function rowsRead(unit: ReadingUnit, table: string): Promise<number> {
	const { rows } = await unit.raw<{ readonly read: number }>(
		`select (seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as read from pg_stat_xact_user_tables
		where relname = :table and :environment_id::uuid is not null`,
		{ table },
	);
	return rows[0]?.read ?? 0;
}
