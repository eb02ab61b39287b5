import { notFound } from '../../failure.js';
import type { GroupRow } from '../../store/table/group/group.js';
import { Resource } from '../../store/table/resource.js';
import { Tenant } from '../../store/table/tenant.js';
import { User } from '../../store/table/user.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceName } from '../../wire/common.js';
import type { GroupUserAdd } from '../../wire/schema/group.js';
import { assignMany, unassignMany } from '../facts/assignment.js';
import { requireTenant } from '../facts/named-instance.js';
import { ensureMemberRole, findMemberRole } from './made-for-groups.js';

/**
 * Makes a user a group member, or extends an existing membership. Does nothing if the membership does not end earlier.
 * Throws `not_found`, and `mismatched_tenants` if `tenant` is not the group's tenant.
 */
export async function addGroupUser(
	unit: WritingUnit,
	group: GroupRow,
	user: string,
	{ tenant, expires_at }: GroupUserAdd,
): Promise<void> {
	const { id } = await unit.find(User, user);
	requireTenant(group, await unit.find(Tenant, tenant));
	const role = await ensureMemberRole(unit, await unit.find(Resource, group.resource_id));
	await assignMany(unit, [{ user: id, role: role.id, resource_instance: group.id, expires_at }]);
}

/** Removes a user from a group. Throws `not_found` if the user is not a member, and otherwise like `addGroupUser`. */
export async function removeGroupUser(
	unit: WritingUnit,
	group: GroupRow,
	reference: string,
	tenant: string | undefined,
): Promise<void> {
	const user = await unit.find(User, reference);
	if (tenant !== undefined) requireTenant(group, await unit.find(Tenant, tenant));
	const role = await findMemberRole(unit, group.resource_id);
	const held = role === undefined ? [] : [{ user: user.id, role: role.id, resource_instance: group.id }];
	if ((await unassignMany(unit, held)).length > 0) return;
	throw notFound('GroupUser', `${user.key}@${instanceName(group.resource, group.key)}`);
}
