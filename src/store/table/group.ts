import type { QueryBuilder } from 'objection';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { type RowQuery, rowQuery } from '../unit/row-query.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { EnvironmentModel, sameEnvironment } from './environment-model.js';
import { type InstanceFilter, type InstanceRow, instanceQuery, type ResourceInstance } from './resource-instance.js';

/** A resource instance that is a group: `id` is the instance's. */
export class Group extends EnvironmentModel {
	static override readonly tableName = 'groups';
	static readonly kind = 'group';
	static readonly title = 'Group';

	/** Whether the instance was made to be a group, and is deleted when it stops being one. */
	declare made_instance: boolean;
}

/** The instance that is a group, with the keys of its resource and its tenant. */
export type GroupRow = InstanceRow & Pick<Group, 'made_instance'>;

/** The environment's groups whose instances pass the filter, oldest instance first. */
export function groupsBy(unit: ReadingUnit, filter: InstanceFilter): RowQuery<GroupRow> {
	return rowQuery(groupQuery(unit, filter).castTo<GroupRow[]>());
}

/** All groups of the environment, in no order: there may be very many. */
export async function allGroups(unit: ReadingUnit): Promise<readonly GroupRow[]> {
	return groupQuery(unit, {}).clearOrder().castTo<GroupRow[]>();
}

/** Like `groupsBy`, to be narrowed further. */
export function groupQuery(
	unit: ReadingUnit,
	filter: InstanceFilter,
): QueryBuilder<ResourceInstance, ResourceInstance[]> {
	return instanceQuery(unit, filter)
		.join('groups', sameEnvironment('resource_instances', 'id', 'groups'))
		.select('groups.made_instance');
}

/** The groups among these instances. */
export async function groupsAmong(unit: ReadingUnit, ids: readonly string[]): Promise<readonly GroupRow[]> {
	return ids.length === 0 ? [] : groupsBy(unit, { ids });
}

/** Makes these instances groups. Records nothing. */
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

/** Turns these groups back into plain instances. Records nothing. */
export async function deleteGroups(unit: WritingUnit, ids: readonly string[]): Promise<void> {
	await unit.query(Group).whereRaw('groups.id = any(?::uuid[])', [ids]).delete();
}
