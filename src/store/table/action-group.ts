import { type AttributeFilter, whereAttributes } from '../query/filter.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { EnvironmentModel, KeyedModel, sameEnvironment } from './environment-model.js';

/** A resource's named action group. */
export class ActionGroup extends KeyedModel {
	static override readonly tableName = 'action_groups';
	static override readonly jsonAttributes = ['attributes'];
	static readonly kind = 'action_group';
	static readonly title = 'ResourceActionGroup';

	declare resource_id: string;
	declare name: string;
	declare description: string | null;
	declare attributes: Record<string, unknown> | null;
}

/** An action in a group. `position` stores the order of the actions in the group. */
class ActionGroupAction extends EnvironmentModel {
	static override readonly tableName = 'action_group_actions';
	static readonly kind = 'action_group';
	static readonly title = 'ResourceActionGroupAction';

	declare action_group_id: string;
	declare action_id: string;
	declare position: number;

	static override get idColumn(): string[] {
		return ['environment_id', 'action_group_id', 'action_id'];
	}
}

/** Returns these resources' action groups that have all these attribute values, oldest first. */
export function actionGroupsBy(
	unit: ReadingUnit,
	resourceIds: readonly string[],
	filters: readonly AttributeFilter[] = [],
): RowQuery<ActionGroup> {
	const query = unit
		.query(ActionGroup)
		.whereRaw('action_groups.resource_id = any(?::uuid[])', [resourceIds])
		.orderBy('action_groups.id');
	return rowQuery(whereAttributes(query, 'action_groups.attributes', filters));
}

/** Returns the action groups that contain any of these actions, oldest first. */
export function actionGroupsWith(unit: ReadingUnit, actionIds: readonly string[]): RowQuery<ActionGroup> {
	const holding = unit
		.query(ActionGroupAction)
		.whereRaw('action_group_actions.action_id = any(?::uuid[])', [actionIds])
		.select('action_group_actions.action_group_id');
	return rowQuery(unit.query(ActionGroup).whereIn('action_groups.id', holding).orderBy('action_groups.id'));
}

/** An action in a group, by its key. */
export interface GroupedActionRow {
	readonly action_group_id: string;
	readonly key: string;
}

/** Returns these groups' actions. Each group's actions are in the group's order. */
export async function groupedActions(
	unit: ReadingUnit,
	groupIds: readonly string[],
): Promise<readonly GroupedActionRow[]> {
	return unit
		.query(ActionGroupAction)
		.join('resource_actions', sameEnvironment('action_group_actions', 'action_id', 'resource_actions'))
		.whereRaw('action_group_actions.action_group_id = any(?::uuid[])', [groupIds])
		.select('action_group_actions.action_group_id', 'resource_actions.key')
		.orderBy(['action_group_actions.action_group_id', 'action_group_actions.position'])
		.castTo<GroupedActionRow[]>();
}

/** Replaces a group's actions, and stores the order of the new actions. */
export async function replaceGroupedActions(
	unit: WritingUnit,
	groupId: string,
	actionIds: readonly string[],
): Promise<void> {
	await unit.query(ActionGroupAction).where('action_group_actions.action_group_id', groupId).delete();
	const rows = actionIds.map((action_id, position) => ({ action_group_id: groupId, action_id, position }));
	await unit.insert(ActionGroupAction, rows, (row) => String(row.action_id));
}
