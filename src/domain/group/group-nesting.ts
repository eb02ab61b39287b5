import { Failure, notFound } from '../../failure.js';
import { environmentSettings } from '../../store/table/environment-settings.js';
import type { GroupRow } from '../../store/table/group/group.js';
import { joinsChild } from '../../store/table/group/group-role.js';
import { Resource } from '../../store/table/resource.js';
import type { Role } from '../../store/table/role.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceName } from '../../wire/common.js';
import { type GroupRole, giveGroupRole, takeGroupRole } from './group-role.js';
import { ensureMemberRole, findMemberRole } from './made-for-groups.js';

/**
 * Groups in groups. A group member holds the role `member` on the group. When two groups are nested, an environment
 * setting determines which group becomes a member of the other. The lists of children and parents do not depend on this
 * direction.
 */

/**
 * Nests `child` in `parent`. By default, child members become parent members; with `parent_joins_child`, parent members
 * become child members. The nesting ends at `expires_at`, if present. If the groups are already nested, their direction
 * changes to the current setting. Throws `mismatched_relation` for groups on different resources, `mismatched_tenants`,
 * and `invalid` for a group nested in itself.
 */
export async function nestGroup(
	unit: WritingUnit,
	parent: GroupRow,
	child: GroupRow,
	expires_at?: string,
): Promise<void> {
	const [outer, inner] = [parent, child].map(({ resource, key }) => `\`${instanceName(resource, key)}\``);
	if (child.resource_id !== parent.resource_id) {
		const message = `the group ${inner} cannot be assigned to ${outer}, which belongs to a different resource`;
		throw new Failure('mismatched_relation', message);
	}
	if (child.tenant_id !== parent.tenant_id) {
		const message = `the group ${inner} is in the tenant \`${child.tenant}\`, ${outer} in \`${parent.tenant}\``;
		throw new Failure('mismatched_tenants', message);
	}
	const role = await ensureMemberRole(unit, await unit.find(Resource, parent.resource_id));
	const parentJoins = (await environmentSettings(unit))['group_nesting'] === 'parent_joins_child';
	const { group, wanted } = membership(parent, child, role, parentJoins);
	await giveGroupRole(unit, group, { ...wanted, expires_at }, parentJoins);
	await takeMembership(unit, parent, child, role, !parentJoins);
}

/**
 * Removes `child` from `parent`, regardless of the membership direction. Throws `not_found` if `child` is not nested in
 * `parent`.
 */
export async function releaseGroup(unit: WritingUnit, parent: GroupRow, child: GroupRow): Promise<void> {
	const role = await findMemberRole(unit, parent.resource_id);
	const missing = notFound('ChildGroup', instanceName(child.resource, child.key));
	if (role === undefined) throw missing;
	const childJoined = await takeMembership(unit, parent, child, role, false);
	const parentJoined = await takeMembership(unit, parent, child, role, true);
	if (!childJoined && !parentJoined) throw missing;
}

/** Returns the group that holds the role `member`, and the group on which it holds this role. */
function membership(
	parent: GroupRow,
	child: GroupRow,
	role: Role,
	parentJoins: boolean,
): { readonly group: GroupRow; readonly wanted: GroupRole } {
	return parentJoins
		? { group: parent, wanted: { role, object: child } }
		: { group: child, wanted: { role, object: parent } };
}

async function takeMembership(
	unit: WritingUnit,
	parent: GroupRow,
	child: GroupRow,
	role: Role,
	parentJoins: boolean,
): Promise<boolean> {
	const { group, wanted } = membership(parent, child, role, parentJoins);
	return takeGroupRole(unit, group, wanted, (relation) => joinsChild(relation) === parentJoins);
}
