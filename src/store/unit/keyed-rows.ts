import type { KeyedModel } from '../table/environment-model.js';
import type { ReadingUnit } from './reading-unit.js';
import type { TableModel, Within } from './table-model.js';

/** Reads rows by ids or keys, and all keys in a table in code unit order, for which the database has no index. */

export interface RowKey {
	readonly id: string;
	readonly key: string;
}

/** Returns the keys and ids of all rows in `within`, sorted by key. */
export async function sortedRowKeys<M extends KeyedModel>(
	unit: ReadingUnit,
	table: TableModel<M>,
	within: Within = {},
): Promise<readonly RowKey[]> {
	const query = unit.query(table).select(`${table.tableName}.id`, `${table.tableName}.key`);
	for (const [column, value] of Object.entries(within)) query.where(`${table.tableName}.${column}`, value);
	const names = await query.castTo<RowKey[]>();
	return names.sort((left, right) => (left.key < right.key ? -1 : 1));
}

/** Returns rows keyed by id. */
export async function rowsWithIds<M extends KeyedModel>(
	unit: ReadingUnit,
	table: TableModel<M>,
	ids: readonly string[],
): Promise<ReadonlyMap<string, M>> {
	const rows = await unit.query(table).whereRaw('?? = any(?::uuid[])', [`${table.tableName}.id`, ids]);
	return new Map(rows.map((row) => [row.id, row]));
}

/** Returns row keys, keyed by row id. */
export async function keysWithIds<M extends KeyedModel>(
	unit: ReadingUnit,
	table: TableModel<M>,
	ids: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
	const wanted = [...new Set(ids)];
	if (wanted.length === 0) return new Map();
	const rows = await unit
		.query(table)
		.whereRaw('?? = any(?::uuid[])', [`${table.tableName}.id`, wanted])
		.select(`${table.tableName}.id`, `${table.tableName}.key`)
		.castTo<RowKey[]>();
	return new Map(rows.map(({ id, key }) => [id, key]));
}

/**
 * Returns the rows in `within` with these keys, oldest first, in a map keyed by row key. A key that looks like an id
 * matches only keys, unlike a reference.
 */
export async function rowsWithKeys<M extends KeyedModel>(
	unit: ReadingUnit,
	table: TableModel<M>,
	keys: Iterable<string>,
	within: Within = {},
): Promise<ReadonlyMap<string, M>> {
	const wanted = [...new Set(keys)];
	if (wanted.length === 0) return new Map();
	const query = unit.query(table).whereRaw('?? = any(?::text[])', [`${table.tableName}.key`, wanted]);
	for (const [column, value] of Object.entries(within)) query.where(`${table.tableName}.${column}`, value);
	return new Map((await query.orderBy(`${table.tableName}.id`)).map((row) => [row.key, row]));
}

/** Part of a resource: an action, relation or role. */
export type PartModel = KeyedModel & { readonly resource_id: string | null };

/** Returns these resources' parts, oldest first. */
export async function partsWithin<M extends PartModel>(
	unit: ReadingUnit,
	table: TableModel<M>,
	resourceIds: readonly string[],
): Promise<readonly M[]> {
	const query = unit.query(table).whereRaw('?? = any(?::uuid[])', [`${table.tableName}.resource_id`, resourceIds]);
	return query.orderBy(`${table.tableName}.id`);
}

/** Returns a function that looks up a part by resource id and key. */
export async function partsWithKeys<M extends PartModel>(
	unit: ReadingUnit,
	table: TableModel<M>,
	wanted: readonly { readonly resource_id: string; readonly key: string }[],
): Promise<(resource_id: string, key: string) => M | undefined> {
	const columns = [`${table.tableName}.resource_id`, `${table.tableName}.key`];
	const pairs = [wanted.map(({ resource_id }) => resource_id), wanted.map(({ key }) => key)];
	const condition = '(??, ??) in (select * from unnest(?::uuid[], ?::text[]))';
	const rows = wanted.length === 0 ? [] : await unit.query(table).whereRaw(condition, [...columns, ...pairs]);
	const found = new Map(rows.map((row) => [`${row.resource_id}/${row.key}`, row]));
	return (resource_id, key) => found.get(`${resource_id}/${key}`);
}
