import type { KeyedModel } from '../../store/table/environment-model.js';
import { rowsWithKeys } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { TableModel, Within } from '../../store/unit/table-model.js';
import { type DocumentPart, type Entry, entryNames, rowsInKeyOrder, valuesByName } from './part.js';

/**
 * Returns the readers for a part whose objects are keyed rows in a table. Only rows in `within` are read. `toEntries`
 * returns an entry for each row.
 */
export function keyedReaders<M extends KeyedModel, V>(
	table: TableModel<M>,
	toEntries: (unit: ReadingUnit, rows: readonly M[]) => Promise<readonly Entry<V>[]>,
	within: Within = {},
): Pick<DocumentPart<V>, 'chunks' | 'stored'> {
	return {
		async *chunks(unit) {
			for await (const rows of rowsInKeyOrder(unit, table, within)) yield toEntries(unit, rows);
		},
		async stored(unit, entries) {
			const rows = await rowsWithKeys(unit, table, entryNames(entries), within);
			return valuesByName(await toEntries(unit, [...rows.values()]));
		},
	};
}
