import { duplicate } from '../failure.js';
import type { KeyedModel } from '../store/table/environment-model.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';
import type { TableModel } from '../store/unit/table-model.js';

/** Throws `duplicate` for the first key that is taken or repeated. */
export async function refuseTakenKeys<M extends KeyedModel>(
	unit: ReadingUnit,
	table: TableModel<M>,
	keys: readonly string[],
): Promise<void> {
	const taken = new Set(await unit.keysTaken(table, keys));
	for (const key of keys) {
		if (taken.has(key)) throw duplicate(table.kind, key);
		taken.add(key);
	}
}
