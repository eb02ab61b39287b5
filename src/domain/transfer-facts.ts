import type { KeyedModel } from '../store/table/environment-model.js';
import { Tenant } from '../store/table/tenant.js';
import { User } from '../store/table/user.js';
import type { Columns, Table, WritingUnit } from '../store/unit.js';
import { rowsWithKeys } from '../store/whole.js';
import type { TenantEntry, UserEntry } from '../wire/environment-document.js';
import { createTenants, removeTenants } from './tenant.js';
import {
	type Entry,
	entriesOfMap,
	namesIn,
	type Part,
	rowsByKey,
	valuesOf,
	without,
	withoutNulls,
} from './transfer-part.js';
import { createUsers, removeUsers } from './user.js';

/** Tenants and users. */

/** What tells one kind of object that has a key from another. */
interface Keyed<M extends KeyedModel, V> extends Pick<Part<V>, 'title' | 'entriesOf' | 'shown'> {
	readonly table: Table<M>;
	readonly member: readonly ['facts', string];
	valueOf(row: M): V;
	columnsOf(value: V): Columns<M>;
	create(unit: WritingUnit, entries: readonly Entry<V>[]): Promise<unknown>;
	removeRows(unit: WritingUnit, rows: readonly M[]): Promise<void>;
}

function keyedPart<M extends KeyedModel, V>(keyed: Keyed<M, V>): Part<V> {
	const { table, member, title, entriesOf, shown } = keyed;
	const entryOf = (row: M) => ({ name: row.key, place: [...member, row.key], value: keyed.valueOf(row) });
	return {
		...{ title, member, scope: null, list: false, entriesOf, shown },
		async *portions(unit) {
			for await (const rows of rowsByKey(unit, table)) yield rows.map(entryOf);
		},
		async held(unit, entries) {
			const rows = await rowsWithKeys(unit, table, namesIn(entries));
			return valuesOf([...rows.values()].map(entryOf));
		},
		async write(unit, entries) {
			const added = entries.filter(({ exists }) => !exists);
			if (added.length > 0) await keyed.create(unit, added);
			const changed = entries.filter(({ exists }) => exists);
			const rows = await rowsWithKeys(unit, table, namesIn(changed));
			await unit.updateMany(
				table,
				changed.flatMap(({ name, value }) => {
					const row = rows.get(name);
					return row === undefined ? [] : [{ row, columns: keyed.columnsOf(value) }];
				}),
			);
		},
		async remove(unit, entries) {
			await keyed.removeRows(unit, [...(await rowsWithKeys(unit, table, namesIn(entries))).values()]);
		},
	};
}

/** Tenants. */
export const tenantPart: Part<TenantEntry> = keyedPart({
	table: Tenant,
	title: 'tenant',
	member: ['facts', 'tenants'],
	entriesOf: ({ facts }) => entriesOfMap(['facts', 'tenants'], facts?.tenants),
	shown: (value) => without(value, { description: null, attributes: null }),
	valueOf: ({ name, description, attributes }) => ({ name, description, attributes }),
	columnsOf: (value) => value,
	create: (unit, entries) =>
		createTenants(
			unit,
			entries.map(({ name: key, value }) => ({ key, ...withoutNulls(value) })),
		),
	removeRows: removeTenants,
});

/** Users. */
export const userPart: Part<UserEntry> = keyedPart({
	table: User,
	title: 'user',
	member: ['facts', 'users'],
	entriesOf: ({ facts }) => entriesOfMap(['facts', 'users'], facts?.users),
	shown: (value) => without(value, { email: null, first_name: null, last_name: null, attributes: {} }),
	valueOf: ({ email, first_name, last_name, attributes }) => ({ email, first_name, last_name, attributes }),
	columnsOf: (value) => value,
	create: (unit, entries) =>
		createUsers(
			unit,
			entries.map(({ name: key, value }) => ({ key, ...withoutNulls(value) })),
		),
	removeRows: removeUsers,
});
