import { deleteGroups, Group, type GroupRow, groupsAmong, insertGroups } from '../store/table/group.js';
import type { WritingUnit } from '../store/unit.js';
import { instanceName } from '../wire/common.js';

/** What tells a group from other resource instances. */

/** Makes instances groups. */
export async function markGroups(unit: WritingUnit, groups: readonly GroupRow[]): Promise<void> {
	await insertGroups(unit, groups);
	for (const group of groups) unit.record(Group.kind, 'create', nameOf(group), null, recordOf(group));
}

/** Makes those of the instances that are groups be none; the instances and all that is theirs stay. */
export async function unmarkGroups(unit: WritingUnit, instanceIds: readonly string[]): Promise<void> {
	const groups = await groupsAmong(unit, instanceIds);
	if (groups.length === 0) return;
	await deleteGroups(
		unit,
		groups.map(({ id }) => id),
	);
	for (const group of groups) unit.record(Group.kind, 'delete', nameOf(group), recordOf(group), null);
}

function nameOf({ resource, key }: GroupRow): string {
	return instanceName(resource, key);
}

function recordOf({ id, resource, resource_id, key, tenant, tenant_id, made_instance }: GroupRow) {
	return { id, resource, resource_id, key, tenant, tenant_id, made_instance };
}
