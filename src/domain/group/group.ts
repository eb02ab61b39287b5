import { groupBy } from '../../../compiler/group-by.js';
import { duplicate, notFound } from '../../failure.js';
import { onlyRow } from '../../store/query/only-row.js';
import { Group, type GroupRow, groupsAmong } from '../../store/table/group/group.js';
import { groupMembers, groupRoleNames } from '../../store/table/group/group-role.js';
import { instancesNamed } from '../../store/table/resource-instance.js';
import { Tenant } from '../../store/table/tenant.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceName } from '../../wire/common.js';
import {
	type GroupCreate,
	type GroupRead,
	type GroupReadSchema,
	groupResource,
	maxShownOfGroup,
} from '../../wire/schema/group.js';
import { removeUserInvites } from '../element/remove-user-invites.js';
import { removeRequests } from '../element/request-record.js';
import { removeAssignments } from '../facts/assignment.js';
import { findInstances, insertInstances, onlyInstance, requireTenant } from '../facts/named-instance.js';
import { removeInstances } from '../facts/resource-instance.js';
import { markGroups, unmarkGroups } from './group-mark.js';
import { removeRolesAround } from './group-role.js';
import { ensureGroupResource, findMemberRole, removeUnneeded } from './made-for-groups.js';

/** Converts a group to its list entry. */
export function readGroupSchema({ id, resource, key, tenant }: GroupRow): GroupReadSchema {
	return { id, group_resource_type_key: resource, group_instance_key: key, group_tenant: tenant };
}

/** Converts groups to API objects with their roles and users. Omits lists that exceed the size limit. */
export async function readGroups(unit: ReadingUnit, rows: readonly GroupRow[]): Promise<readonly GroupRead[]> {
	const ids = rows.map(({ id }) => id);
	const most = maxShownOfGroup + 1;
	const roles = groupBy(await groupRoleNames(unit, ids, most), ({ group_id }) => group_id);
	const users = groupBy(await groupMembers(unit, ids, most), ({ group_id }) => group_id);
	return rows.map((row) => ({
		...readGroupSchema(row),
		assigned_roles: shown(roles.get(row.id)),
		users: shown(users.get(row.id)),
	}));
}

export async function readGroup(unit: ReadingUnit, row: GroupRow): Promise<GroupRead> {
	return onlyRow(await readGroups(unit, [row]));
}

function shown(values: readonly { readonly value: string }[] = []): string[] | undefined {
	return values.length > maxShownOfGroup ? undefined : values.map(({ value }) => value).sort();
}

/**
 * Returns the group with this `<resource key>:<instance key>`, id or key. A key alone means the group on the resource
 * `group`, or else the only group with this key. Instances without the group mark are ignored. Throws `not_found`, and
 * `invalid` for a key shared by several groups on other resources.
 */
export async function findGroup(unit: ReadingUnit, reference: string): Promise<GroupRow> {
	const instances = (await instancesNamed(unit, [reference])).get(reference) ?? [];
	const ids = instances.map(({ id }) => id);
	const groups = await groupsAmong(unit, ids);
	const group = onlyInstance(reference, groups, groupResource);
	if (group === undefined) throw notFound(Group.title, reference);
	return group;
}

/**
 * Creates a group. Creates its resource, the resource's role `member` and the instance if they are missing. Throws
 * `duplicate` for an existing group, `not_found` for the tenant, and `mismatched_tenants` for an instance in a
 * different tenant.
 */
export async function createGroup(unit: WritingUnit, body: GroupCreate): Promise<GroupRow> {
	const tenant = await unit.find(Tenant, body.group_tenant);
	const resource = await ensureGroupResource(unit, body.group_resource_type_key);
	const key = body.group_instance_key;
	const name = instanceName(resource.key, key);
	const existing = (await findInstances(unit, [name])).get(name);
	if (existing !== undefined) {
		if ((await groupsAmong(unit, [existing.id])).length > 0) throw duplicate(Group.kind, name);
		requireTenant(existing, tenant);
	}
	const instance = existing ?? onlyRow(await insertInstances(unit, [{ key, attributes: {}, resource, tenant }]));
	const group = Object.assign(instance, { made_instance: existing === undefined });
	await markGroups(unit, [group]);
	return group;
}

/**
 * Deletes a group with its memberships, its roles and its nesting in other groups. Also deletes an instance created for
 * the group, with everything attached to it. Deletes objects made for groups if no group needs them.
 */
export async function removeGroup(unit: WritingUnit, group: GroupRow): Promise<void> {
	if (group.made_instance) await removeInstances(unit, { ids: [group.id] });
	else await releaseInstance(unit, group);
	await removeUnneeded(unit);
}

/** Turns a group back into a plain instance, which keeps its earlier data. */
async function releaseInstance(unit: WritingUnit, group: GroupRow): Promise<void> {
	const member = await findMemberRole(unit, group.resource_id);
	if (member !== undefined) {
		const memberships = { role_ids: [member.id], resource_instance_ids: [group.id] };
		await removeAssignments(unit, memberships);
		await removeUserInvites(unit, memberships);
		await removeRequests(unit, memberships);
		await removeRolesAround(unit, group, member);
	}
	await unmarkGroups(unit, [group.id]);
}
