import { Failure, notFound } from '../failure.js';
import type { GroupRow } from '../store/table/group.js';
import { Resource } from '../store/table/resource.js';
import type { WritingUnit } from '../store/unit.js';
import { instanceName } from '../wire/common.js';
import { giveGroupRole, takeGroupRole } from './group-role.js';
import { ensureMemberRole, findMemberRole } from './made-for-groups.js';

/** Groups in groups: to be in a group is to have the role `member` on it. */

/**
 * Makes a group a member of another, so that its members are members there; one that is already stays. Throws
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
	await giveGroupRole(unit, child, { role, object: parent });
}

/** Takes a group out of another. Throws `not_found` when it is not in it. */
export async function releaseGroup(unit: WritingUnit, parent: GroupRow, child: GroupRow): Promise<void> {
	const role = await findMemberRole(unit, parent.resource_id);
	if (role !== undefined && (await takeGroupRole(unit, child, { role, object: parent }))) return;
	throw notFound('ChildGroup', instanceName(child.resource, child.key));
}
