import type { ChangedRecord } from '../store/change.js';
import type { KeyedModel } from '../store/table/environment-model.js';
import { type Columns, holds, type Table, type WritingUnit } from '../store/unit.js';

/** An object as the change log names and keeps it, with the keys of what it is linked to. */
export interface Described {
	readonly name: string;
	readonly record: ChangedRecord;
}

/** Objects whose records say more than their rows: a role its permissions, a group its actions. */
export interface Linked<M extends KeyedModel> {
	readonly table: Table<M>;
	readonly describe: (row: M) => Promise<Described>;
}

/**
 * Does what takes links from objects or gives them some, sets `columns` of them, and records those that are others
 * than before; the rest stay as they are. Returns the rows as they are now, in their order.
 */
export async function relinking<M extends KeyedModel>(
	unit: WritingUnit,
	{ table, describe }: Linked<M>,
	rows: readonly M[],
	relink: () => Promise<void>,
	// No columns at all, which TypeScript cannot see to be columns of any row.
	columns: Columns<M> = {} as Columns<M>,
): Promise<readonly M[]> {
	const before: [M, Described][] = [];
	for (const row of rows) before.push([row, await describe(row)]);
	await relink();
	const now: M[] = [];
	for (const [row, { name, record }] of before) {
		const unchanged = holds(record, { ...(await describe(row)).record, ...columns });
		const after = unchanged ? row : await unit.change(table, row, columns);
		if (!unchanged) unit.record(table.kind, 'update', name, record, (await describe(after)).record);
		now.push(after);
	}
	return now;
}
