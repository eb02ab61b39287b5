import { asDate } from '../../domain/as-date.js';
import { removeEndedInvites } from '../../domain/element/ended-invite.js';
import { ElementsConfig } from '../../store/table/element/elements-config.js';
import { UserInvite } from '../../store/table/element/user-invite.js';
import { instancesBy } from '../../store/table/resource-instance.js';
import { Role } from '../../store/table/role.js';
import { Tenant } from '../../store/table/tenant.js';
import { rowsWithIds, rowsWithKeys } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { instanceName, instanceParts } from '../../wire/common.js';
import type { UserInviteEntry } from '../../wire/general/environment-document.js';
import { instanceResolver } from './instance.js';
import { keyedReaders } from './keyed-readers.js';
import { type DocumentPart, type Entry, entryNames, mapEntries, type WantedEntry, withoutDefaults } from './part.js';
import { keyResolver, type PartName, partResolver } from './reference.js';

const member = ['facts', 'user_invites'] as const;

export const userInvitePart: DocumentPart<UserInviteEntry> = {
	title: 'user invite',
	member,
	scope: null,
	list: false,
	entriesIn: ({ facts }) => mapEntries(member, facts?.user_invites),
	...keyedReaders(UserInvite, inviteEntries),
	toDocument: (value) =>
		withoutDefaults(value, {
			first_name: null,
			last_name: null,
			status: 'pending',
			tenant: null,
			resource_instance: null,
			element: null,
			user_key: null,
			attributes: null,
			invite_expires_at: null,
		}),
	async write(unit, entries) {
		const wanted = await resolve(unit, entries);
		await removeEndedInvites(unit, entryNames(entries));
		await unit.createMany(
			UserInvite,
			wanted.filter(({ exists }) => !exists).map(({ columns }) => columns),
			(invite) => invite.key,
		);
		const rows = await rowsWithKeys(unit, UserInvite, entryNames(entries));
		await unit.updateMany(
			UserInvite,
			wanted.flatMap(({ columns, exists }) => {
				const row = exists ? rows.get(columns.key) : undefined;
				return row === undefined ? [] : [{ row, columns }];
			}),
		);
	},
	async remove(unit, entries) {
		const rows = await rowsWithKeys(unit, UserInvite, entryNames(entries));
		await unit.removeMany(UserInvite, [...rows.values()], (invite) => invite.key);
	},
};

async function inviteEntries(
	unit: ReadingUnit,
	rows: readonly UserInvite[],
): Promise<readonly Entry<UserInviteEntry>[]> {
	const roles = await rowsWithIds(unit, Role, [...new Set(rows.map((row) => row.role_id))]);
	const tenants = await rowsWithIds(unit, Tenant, [...new Set(rows.map((row) => row.tenant_id))]);
	const ids = rows.flatMap((row) => row.resource_instance_id ?? []);
	const found = ids.length === 0 ? [] : await instancesBy(unit, { ids }).all();
	const instances = new Map(found.map((row) => [row.id, row]));
	const configIds = rows.flatMap(({ config_id }) => config_id ?? []);
	const elements = await rowsWithIds(unit, ElementsConfig, configIds);
	return rows.map(({ key, email, first_name, last_name, status, user_key, attributes, ...row }) => {
		const role = roles.get(row.role_id);
		const instance = instances.get(row.resource_instance_id ?? '');
		const roleKey = role?.key ?? '';
		const value = {
			email,
			first_name,
			last_name,
			status,
			role: role?.resource_id && instance ? `${instance.resource}:${roleKey}` : roleKey,
			tenant: instance === undefined ? (tenants.get(row.tenant_id)?.key ?? '') : null,
			resource_instance: instance === undefined ? null : instanceName(instance.resource, instance.key),
			element: elements.get(row.config_id ?? '')?.key ?? null,
			user_key,
			attributes,
			invite_expires_at: row.expires_at?.toISOString() ?? null,
		};
		return { name: key, place: [...member, key], value };
	});
}

/**
 * Resolves invite columns. If an invite contains an instance, the role belongs to the instance's resource, and the
 * tenant is the instance's tenant. Otherwise the role is a tenant role.
 */
async function resolve(unit: ReadingUnit, entries: readonly WantedEntry<UserInviteEntry>[]) {
	const tenantKeys = entries.flatMap(({ value }) => value.tenant ?? []);
	const tenantAt = await keyResolver(unit, Tenant, tenantKeys);
	const instanceNames = entries.flatMap(({ value }) => value.resource_instance ?? []);
	const instanceAt = await instanceResolver(unit, instanceNames);
	const roleNames = entries.map(({ value }) => invitedRole(value));
	const roleAt = await partResolver(unit, Role, roleNames);
	const elementKeys = entries.flatMap(({ value }) => value.element ?? []);
	const elementAt = await keyResolver(unit, ElementsConfig, elementKeys);
	return entries.map(({ name: key, place, value, exists }) => {
		const { role: _, tenant, resource_instance, element, invite_expires_at, ...fields } = value;
		const instance = resource_instance === null ? null : instanceAt(resource_instance, [...place, 'resource_instance']);
		const columns = {
			key,
			...fields,
			role_id: roleAt(invitedRole(value), [...place, 'role']).id,
			tenant_id: instance?.tenant_id ?? tenantAt(tenant ?? '', [...place, 'tenant']).id,
			resource_instance_id: instance?.id ?? null,
			config_id: element === null ? null : elementAt(element, [...place, 'element']).id,
			expires_at: asDate(invite_expires_at ?? undefined),
		};
		return { exists, columns };
	});
}

function invitedRole({ role }: UserInviteEntry): PartName {
	return instanceParts(role) ?? { resource: null, key: role };
}
