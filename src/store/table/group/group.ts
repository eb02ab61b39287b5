import type { QueryBuilder } from 'objection';
import { type RowQuery, rowQuery } from '../../query/row-query.js';
import type { ReadingUnit } from '../../unit/reading-unit.js';
import type { WritingUnit } from '../../unit/writing-unit.js';
import { EnvironmentModel, sameEnvironment } from '../environment-model.js';
import {
	type InstanceFilter,
	type InstanceRow,
	instanceQuery,
	instancesWithIds,
	type ResourceInstance,
} from '../resource-instance.js';

/** A resource instance that is a group. `id` is the instance id. */
export class Group extends EnvironmentModel {
	static override readonly tableName = 'groups';
	static readonly kind = 'group';
	static readonly title = 'Group';

	/** True if the instance was created for the group, and is deleted with it. */
	declare made_instance: boolean;
}

/** The group's instance, with its resource and tenant keys. */
export type GroupRow = InstanceRow & Pick<Group, 'made_instance'>;

/** Returns the environment's groups whose instances match the filter, oldest instance first. */
export function groupsBy(unit: ReadingUnit, filter: InstanceFilter): RowQuery<GroupRow> {
	return rowQuery(groupQuery(unit, filter).castTo<GroupRow[]>());
}

/** Returns all groups in the environment, in no particular order, because there may be very many. */
export async function allGroups(unit: ReadingUnit): Promise<readonly GroupRow[]> {
	return groupQuery(unit, {}).clearOrder().castTo<GroupRow[]>();
}

/** Like `groupsBy`, but returns a query that can be filtered further. */
export function groupQuery(
	unit: ReadingUnit,
	filter: InstanceFilter,
): QueryBuilder<ResourceInstance, ResourceInstance[]> {
	return instanceQuery(unit, filter)
		.join('groups', sameEnvironment('resource_instances', 'id', 'groups'))
		.select('groups.made_instance');
}

/**
 * Returns the groups among these instances, oldest instance first. Reads groups and instances separately: in a new
 * environment, with statistics from before its first row, a join might read all instances for each group.
 */
export async function groupsAmong(unit: ReadingUnit, ids: readonly string[]): Promise<readonly GroupRow[]> {
	const groups = ids.length === 0 ? [] : await unit.query(Group).whereRaw('groups.id = any(?::uuid[])', [ids]);
	const found = new Map(groups.map((group) => [group.id, group.made_instance]));
	const instances = await instancesWithIds(unit, [...found.keys()]);
	return instances.map((row) => Object.assign(row, { made_instance: found.get(row.id) ?? false }));
}

/** Makes these instances groups. Does not write to the change log. */
export async function insertGroups(
	unit: WritingUnit,
	rows: readonly Pick<Group, 'id' | 'made_instance'>[],
): Promise<void> {
	await unit.insert(
		Group,
		rows.map(({ id, made_instance }) => ({ id, made_instance, created_at: unit.now })),
		({ id }) => String(id),
	);
}

/** Turns these groups back into plain instances. Does not write to the change log. */
export async function deleteGroups(unit: WritingUnit, ids: readonly string[]): Promise<void> {
	await unit.query(Group).whereRaw('groups.id = any(?::uuid[])', [ids]).delete();
}
