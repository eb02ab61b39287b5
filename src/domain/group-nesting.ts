import { Failure, notFound } from '../failure.js';
import { settingsOf } from '../store/table/environment-settings.js';
import type { GroupRow } from '../store/table/group.js';
import { joinsChild } from '../store/table/group-role.js';
import { Resource } from '../store/table/resource.js';
import type { Role } from '../store/table/role.js';
import type { WritingUnit } from '../store/unit.js';
import { instanceName } from '../wire/common.js';
import { type GroupRole, giveGroupRole, takeGroupRole } from './group-role.js';
import { ensureMemberRole, findMemberRole } from './made-for-groups.js';

/**
 * Groups in groups: to be in a group is to have the role `member` on it. Which of two groups is in the other is a
 * setting of the environment, read when they are put together; the lists of children and parents are the same either way.
 */

/**
 * Assigns a group to another: by default its members are members of the other, with `parent_joins_child` the other's
 * members are members of it. One that is assigned already stays, and takes the direction that is set now. Throws
 * `mismatched_relation` for groups of two resources, `mismatched_tenants`, `invalid` for a group in itself (spec:
 * Groups, rules 2, 3 and 5).
 */
export async function nestGroup(unit: WritingUnit, parent: GroupRow, child: GroupRow): Promise<void> {
	const [outer, inner] = [parent, child].map(({ resource, key }) => `\`${instanceName(resource, key)}\``);
	if (child.resource_id !== parent.resource_id) {
		const message = `the group ${inner} cannot be assigned to ${outer}, which is of another resource`;
		throw new Failure('mismatched_relation', message);
	}
	if (child.tenant_id !== parent.tenant_id) {
		const message = `the group ${inner} is in the tenant \`${child.tenant}\`, ${outer} in \`${parent.tenant}\``;
		throw new Failure('mismatched_tenants', message);
	}
	const role = await ensureMemberRole(unit, await unit.find(Resource, parent.resource_id));
	const parentJoins = (await settingsOf(unit))['group_nesting'] === 'parent_joins_child';
	const { group, wanted } = membership(parent, child, role, parentJoins);
	await giveGroupRole(unit, group, wanted, parentJoins);
	await takeMembership(unit, parent, child, role, !parentJoins);
}

/** Takes a group out of another, whichever of them is a member of the other. Throws `not_found` when it is not in it. */
export async function releaseGroup(unit: WritingUnit, parent: GroupRow, child: GroupRow): Promise<void> {
	const role = await findMemberRole(unit, parent.resource_id);
	const missing = notFound('ChildGroup', instanceName(child.resource, child.key));
	if (role === undefined) throw missing;
	const childJoined = await takeMembership(unit, parent, child, role, false);
	const parentJoined = await takeMembership(unit, parent, child, role, true);
	if (!childJoined && !parentJoined) throw missing;
}

/** Which group has the role `member` on which when one is assigned to the other. */
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
