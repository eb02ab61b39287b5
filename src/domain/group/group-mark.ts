import { deleteGroups, Group, type GroupRow, groupsAmong, insertGroups } from '../../store/table/group/group.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceName } from '../../wire/common.js';

/** Group markers. A resource instance with a marker is a group. */

/** Marks instances as groups. */
export async function markGroups(unit: WritingUnit, groups: readonly GroupRow[]): Promise<void> {
	await insertGroups(unit, groups);
	for (const group of groups) unit.record(Group.kind, 'create', groupName(group), null, groupRecord(group));
}

/** Removes the group marker from these instances. The instances, their roles and their relationships stay. */
export async function unmarkGroups(unit: WritingUnit, instanceIds: readonly string[]): Promise<void> {
	const groups = await groupsAmong(unit, instanceIds);
	if (groups.length === 0) return;
	const ids = groups.map(({ id }) => id);
	await deleteGroups(unit, ids);
	for (const group of groups) unit.record(Group.kind, 'delete', groupName(group), groupRecord(group), null);
}

function groupName({ resource, key }: GroupRow): string {
	return instanceName(resource, key);
}

function groupRecord({ id, resource, resource_id, key, tenant, tenant_id, made_instance }: GroupRow) {
	return { id, resource, resource_id, key, tenant, tenant_id, made_instance };
}
