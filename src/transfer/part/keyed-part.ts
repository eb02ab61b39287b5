import type { KeyedModel } from '../../store/table/environment-model.js';
import { rowsWithKeys } from '../../store/unit/keyed-rows.js';
import type { Columns, TableModel } from '../../store/unit/table-model.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { keyedReaders } from './keyed-readers.js';
import { type DocumentPart, type Entry, entryNames } from './part.js';

/** The operations that differ between kinds whose objects are keyed rows in a table. */
interface Keyed<M extends KeyedModel, V> extends Pick<DocumentPart<V>, 'title' | 'scope' | 'entriesIn' | 'toDocument'> {
	readonly table: TableModel<M>;
	readonly member: readonly ['schema' | 'facts', string];
	describe(row: M): V;
	columns(value: V): Columns<M>;
	create(unit: WritingUnit, entries: readonly Entry<V>[]): Promise<unknown>;
	removeRows(unit: WritingUnit, rows: readonly M[]): Promise<void>;
}

/** Returns a part whose objects are keyed rows in a table, without nested objects. */
export function keyedPart<M extends KeyedModel, V>(keyed: Keyed<M, V>): DocumentPart<V> {
	const { table, member } = keyed;
	const rowEntry = (row: M) => ({ name: row.key, place: [...member, row.key], value: keyed.describe(row) });
	return {
		title: keyed.title,
		member,
		scope: keyed.scope,
		list: false,
		isEmpty: (unit) => unit.isEmpty(table),
		entriesIn: keyed.entriesIn,
		toDocument: keyed.toDocument,
		...keyedReaders(table, async (_, rows) => rows.map(rowEntry)),
		async write(unit, entries) {
			const added = entries.filter(({ exists }) => !exists);
			if (added.length > 0) await keyed.create(unit, added);
			const changed = entries.filter(({ exists }) => exists);
			const rows = await rowsWithKeys(unit, table, entryNames(changed));
			await unit.updateMany(
				table,
				changed.flatMap(({ name, value }) => {
					const row = rows.get(name);
					return row === undefined ? [] : [{ row, columns: keyed.columns(value) }];
				}),
			);
		},
		async remove(unit, entries) {
			await keyed.removeRows(unit, [...(await rowsWithKeys(unit, table, entryNames(entries))).values()]);
		},
	};
}
