import { createTenants, removeTenants } from '../../domain/facts/tenant.js';
import { createUsers, removeUsers } from '../../domain/facts/user.js';
import { Tenant } from '../../store/table/tenant.js';
import { User } from '../../store/table/user.js';
import type { TenantEntry, UserEntry } from '../../wire/general/environment-document.js';
import { keyedPart } from './keyed-part.js';
import { type DocumentPart, mapEntries, withoutDefaults, withoutNulls } from './part.js';

export const tenantPart: DocumentPart<TenantEntry> = keyedPart({
	table: Tenant,
	title: 'tenant',
	member: ['facts', 'tenants'],
	scope: null,
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
	scope: null,
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
