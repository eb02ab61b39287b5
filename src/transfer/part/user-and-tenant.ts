import { createTenants, removeTenants } from '../../domain/facts/tenant.js';
import { createUsers, removeUsers } from '../../domain/facts/user.js';
import type { KeyedModel } from '../../store/table/environment-model.js';
import { Tenant } from '../../store/table/tenant.js';
import { User } from '../../store/table/user.js';
import { rowsWithKeys } from '../../store/unit/keyed-rows.js';
import type { Columns, TableModel } from '../../store/unit/table-model.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { TenantEntry, UserEntry } from '../../wire/general/environment-document.js';
import { keyedReaders } from './keyed-readers.js';
import { type DocumentPart, type Entry, entryNames, mapEntries, withoutDefaults, withoutNulls } from './part.js';

/** The operations that differ between users and tenants. */
interface Keyed<M extends KeyedModel, V> extends Pick<DocumentPart<V>, 'title' | 'entriesIn' | 'toDocument'> {
	readonly table: TableModel<M>;
	readonly member: readonly ['facts', string];
	describe(row: M): V;
	columns(value: V): Columns<M>;
	create(unit: WritingUnit, entries: readonly Entry<V>[]): Promise<unknown>;
	removeRows(unit: WritingUnit, rows: readonly M[]): Promise<void>;
}

function keyedPart<M extends KeyedModel, V>(keyed: Keyed<M, V>): DocumentPart<V> {
	const { table, member } = keyed;
	const rowEntry = (row: M) => ({ name: row.key, place: [...member, row.key], value: keyed.describe(row) });
	return {
		title: keyed.title,
		member,
		scope: null,
		list: false,
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

export const tenantPart: DocumentPart<TenantEntry> = keyedPart({
	table: Tenant,
	title: 'tenant',
	member: ['facts', 'tenants'],
	entriesIn: ({ facts }) => mapEntries(['facts', 'tenants'], facts?.tenants),
	toDocument: (value) => withoutDefaults(value, { description: null, attributes: null }),
	describe: ({ name, description, attributes }) => ({ name, description, attributes }),
	columns: (value) => value,
	create: (unit, entries) =>
		createTenants(
			unit,
			entries.map(({ name: key, value }) => ({ key, ...withoutNulls(value) })),
		),
	removeRows: removeTenants,
});

export const userPart: DocumentPart<UserEntry> = keyedPart({
	table: User,
	title: 'user',
	member: ['facts', 'users'],
	entriesIn: ({ facts }) => mapEntries(['facts', 'users'], facts?.users),
	toDocument: (value) => withoutDefaults(value, { email: null, first_name: null, last_name: null, attributes: {} }),
	describe: ({ email, first_name, last_name, attributes }) => ({ email, first_name, last_name, attributes }),
	columns: (value) => value,
	create: (unit, entries) =>
		createUsers(
			unit,
			entries.map(({ name: key, value }) => ({ key, ...withoutNulls(value) })),
		),
	removeRows: removeUsers,
});
