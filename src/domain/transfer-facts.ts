import type { KeyedModel } from '../store/table/environment-model.js';
import { ofTenants, Role } from '../store/table/role.js';
import { assignmentsBy, type Named } from '../store/table/role-assignment.js';
import { Tenant } from '../store/table/tenant.js';
import { tenantUsersBy } from '../store/table/tenant-user.js';
import { User } from '../store/table/user.js';
import type { Columns, ReadingUnit, Table, WritingUnit } from '../store/unit.js';
import { namesOf, rowsWithKeys } from '../store/whole.js';
import type { RoleAssignmentEntry, TenantEntry, TenantUserEntry, UserEntry } from '../wire/environment-document.js';
import { assignMany, unassignMany } from './assignment.js';
import { createTenants, removeTenants } from './tenant.js';
import { addTenantUsers, removeTenantUsers } from './tenant-user.js';
import {
	type Entry,
	entriesOfMap,
	namesIn,
	nothingAt,
	type Part,
	type Place,
	portionsOf,
	rowsByKey,
	valuesOf,
	without,
	withoutNulls,
} from './transfer-part.js';
import { createUsers, removeUsers } from './user.js';

/** The kinds of objects in the facts half of a document. */

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

/** Which users were added to which tenants. */
export const tenantUserPart: Part<TenantUserEntry> = {
	title: 'tenant user',
	member: ['facts', 'tenant_users'],
	scope: null,
	list: true,
	entriesOf: ({ facts }) => entriesOfList(['facts', 'tenant_users'], facts?.tenant_users, nameOfPlace),
	async *portions(unit) {
		for (const users of portionsOf(await namesOf(unit, User))) yield placesOf(unit, users);
	},
	async held(unit, entries) {
		return valuesOf(await placesOf(unit, await usersOf(unit, entries)));
	},
	shown: (value) => value,
	async write(unit, entries) {
		const users = await keysOf(unit, User, entries, 'user');
		const tenants = await keysOf(unit, Tenant, entries, 'tenant');
		await addTenantUsers(
			unit,
			entries.map((entry) => ({ user: users(entry), tenant: tenants(entry) })),
		);
	},
	async remove(unit, entries) {
		const users = await keysOf(unit, User, entries, 'user');
		const tenants = await keysOf(unit, Tenant, entries, 'tenant');
		for (const entry of entries) {
			await removeTenantUsers(unit, { user_ids: [users(entry).id], tenant_ids: [tenants(entry).id] });
		}
	},
};

async function placesOf(unit: ReadingUnit, users: readonly Named[]): Promise<readonly Entry<TenantUserEntry>[]> {
	const rows = await tenantUsersBy(unit, { user_ids: users.map(({ id }) => id) });
	return sorted(
		rows.map(({ user, tenant }) => ({ user, tenant })),
		nameOfPlace,
	);
}

function nameOfPlace({ user, tenant }: TenantUserEntry): string {
	return `${user} ${tenant}`;
}

/** Which users hold which roles in which tenants. */
export const roleAssignmentPart: Part<RoleAssignmentEntry> = {
	title: 'role assignment',
	member: ['facts', 'role_assignments'],
	scope: null,
	list: true,
	entriesOf: ({ facts }) => entriesOfList(['facts', 'role_assignments'], facts?.role_assignments, nameOfAssignment),
	async *portions(unit) {
		for (const users of portionsOf(await namesOf(unit, User))) yield assignmentsOf(unit, users);
	},
	async held(unit, entries) {
		return valuesOf(await assignmentsOf(unit, await usersOf(unit, entries)));
	},
	shown: (value) => value,
	async write(unit, entries) {
		await assignMany(unit, await referencesOf(unit, entries));
	},
	async remove(unit, entries) {
		await unassignMany(unit, await referencesOf(unit, entries));
	},
};

async function assignmentsOf(
	unit: ReadingUnit,
	users: readonly Named[],
): Promise<readonly Entry<RoleAssignmentEntry>[]> {
	const user_ids = users.map(({ id }) => id);
	// The keys alone, of which there may be many.
	const values = await assignmentsBy(unit, { user_ids, on_instances: false })
		.clearOrder()
		.clearSelect()
		.select('users.key as user', 'roles.key as role', 'tenants.key as tenant')
		.castTo<RoleAssignmentEntry[]>();
	return sorted(
		values.map(({ user, role, tenant }) => ({ user, role, tenant })),
		nameOfAssignment,
	);
}

/** What the entries name, by ids: a key might look like the id of something else. */
async function referencesOf(unit: ReadingUnit, entries: readonly Entry<RoleAssignmentEntry>[]) {
	const users = await keysOf(unit, User, entries, 'user');
	const roles = await keysOf(unit, Role, entries, 'role');
	const tenants = await keysOf(unit, Tenant, entries, 'tenant');
	return entries.map((entry) => ({ user: users(entry).id, role: roles(entry).id, tenant: tenants(entry).id }));
}

function nameOfAssignment({ user, role, tenant }: RoleAssignmentEntry): string {
	return `${user} ${role} ${tenant}`;
}

/** The users that entries name and that exist. */
async function usersOf(unit: ReadingUnit, entries: readonly Entry<{ readonly user: string }>[]) {
	return [
		...(
			await rowsWithKeys(
				unit,
				User,
				entries.map(({ value }) => value.user),
			)
		).values(),
	];
}

/** What finds the object that a member of an entry names. It throws `not_found`, saying where, when there is none. */
async function keysOf<M extends KeyedModel, F extends string>(
	unit: ReadingUnit,
	table: Table<M>,
	entries: readonly Entry<Readonly<Record<F, string>>>[],
	member: F,
): Promise<(entry: Entry<Readonly<Record<F, string>>>) => Named> {
	const within = member === 'role' ? ofTenants : {};
	const rows = await rowsWithKeys(
		unit,
		table,
		entries.map(({ value }) => value[member]),
		within,
	);
	return ({ place, value }) => {
		const row = rows.get(value[member]);
		if (row === undefined) throw nothingAt([...place, member], table.title, value[member]);
		return row;
	};
}

/** The entries of a list of a document, those that are repeated once. */
function entriesOfList<V>(place: Place, list: readonly V[] = [], nameOf: (value: V) => string): readonly Entry<V>[] {
	const entries = list.map((value, index) => ({ name: nameOf(value), place: [...place, index], value }));
	return [...new Map(entries.map((entry) => [entry.name, entry])).values()];
}

/** Entries in the order of their names. */
function sorted<V>(values: readonly V[], nameOf: (value: V) => string): readonly Entry<V>[] {
	const entries = values.map((value) => ({ name: nameOf(value), place: [], value }));
	return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
}
