import { groupBy } from '../group-by.js';
import type { ChangedRecord } from '../store/change.js';
import {
	ActionGroup,
	actionGroupsBy,
	type GroupedActionRow,
	groupedActions,
	replaceGroupedActions,
} from '../store/table/action-group.js';
import { type Resource, ResourceAction } from '../store/table/resource.js';
import { type Columns, holds, type ReadingUnit, recordOf, type WritingUnit } from '../store/unit.js';
import type { ActionGroupCreate, ActionGroupRead, ActionGroupUpdate } from '../wire/action-group.js';
import { defined } from './defined.js';
import { only } from './only.js';

/** Groups of actions as the API shows them. */
export async function readActionGroups(
	unit: ReadingUnit,
	rows: readonly ActionGroup[],
): Promise<readonly ActionGroupRead[]> {
	const actionsOf = await actionsByGroup(unit, rows);
	return rows.map((row) => ({ ...row, ...unit.scope, actions: actionsOf(row) }));
}

/** One group of actions as the API shows it. */
export async function readActionGroup(unit: ReadingUnit, row: ActionGroup): Promise<ActionGroupRead> {
	return only(await readActionGroups(unit, [row]));
}

/** What resources show of their groups of actions: by the resource's id, by the group's key. */
export async function actionGroupBlocks(
	unit: ReadingUnit,
	resourceIds: readonly string[],
): Promise<(resourceId: string) => Record<string, string[]>> {
	const rows = await actionGroupsBy(unit, resourceIds);
	const actionsOf = await actionsByGroup(unit, rows);
	const groups = groupBy(rows, (row) => row.resource_id);
	return (id) => Object.fromEntries((groups.get(id) ?? []).map((row) => [row.key, actionsOf(row)]));
}

/** Adds a group of actions to a resource. Throws `duplicate`, or `not_found` for an action the resource lacks. */
export async function createActionGroup(
	unit: WritingUnit,
	resource: Resource,
	body: ActionGroupCreate,
): Promise<ActionGroup> {
	const { actions, ...fields } = body;
	const columns = { ...defined(fields), ...unit.stamp(), resource_id: resource.id };
	const name = nameOf(resource, body);
	const group = only(await unit.insert(ActionGroup, [columns], () => name));
	await setGroupedActions(unit, group, actions);
	unit.record('action_group', 'create', name, null, await recordOfGroup(unit, group));
	return group;
}

/** Changes what is given of a group of actions; `actions` and `attributes` are overwritten as a whole. */
export async function changeActionGroup(
	unit: WritingUnit,
	resource: Resource,
	group: ActionGroup,
	body: ActionGroupUpdate,
): Promise<ActionGroup> {
	const { actions, ...fields } = body;
	return only(
		await recordingActionGroups(
			unit,
			resource,
			[group],
			async () => {
				if (actions !== undefined) await setGroupedActions(unit, group, actions);
			},
			defined(fields),
		),
	);
}

/** Deletes groups of actions of a resource; the actions stay. */
export async function removeActionGroups(
	unit: WritingUnit,
	resource: Resource,
	groups: readonly ActionGroup[],
): Promise<void> {
	await unit.removeMany(ActionGroup, groups, (group) => nameOf(resource, group));
}

/**
 * Does work that may change what groups of a resource hold, sets `columns` of them, and records those that are others
 * than before; the rest stay as they are. Returns the groups as they are now, in their order.
 */
export async function recordingActionGroups(
	unit: WritingUnit,
	resource: Resource,
	groups: readonly ActionGroup[],
	work: () => Promise<void>,
	columns: Columns<ActionGroup> = {},
): Promise<readonly ActionGroup[]> {
	const before: [ActionGroup, ChangedRecord][] = [];
	for (const group of groups) before.push([group, await recordOfGroup(unit, group)]);
	await work();
	const now: ActionGroup[] = [];
	for (const [group, record] of before) {
		const unchanged = holds(record, { ...(await recordOfGroup(unit, group)), ...columns });
		const after = unchanged ? group : await unit.change(ActionGroup, group, columns);
		now.push(after);
		if (unchanged) continue;
		unit.record('action_group', 'update', nameOf(resource, group), record, await recordOfGroup(unit, after));
	}
	return now;
}

async function recordOfGroup(unit: ReadingUnit, group: ActionGroup): Promise<ChangedRecord> {
	return { ...recordOf(group), actions: (await groupedActions(unit, [group.id])).map(({ key }) => key) };
}

async function actionsByGroup(
	unit: ReadingUnit,
	groups: readonly ActionGroup[],
): Promise<(group: ActionGroup) => string[]> {
	const ids = groups.map((group) => group.id);
	const actions = groupBy(await groupedActions(unit, ids), (action: GroupedActionRow) => action.action_group_id);
	return (group) => (actions.get(group.id) ?? []).map(({ key }) => key);
}

async function setGroupedActions(unit: WritingUnit, group: ActionGroup, references: readonly string[]): Promise<void> {
	const actions = await unit.findAll(ResourceAction, references, { resource_id: group.resource_id });
	await replaceGroupedActions(unit, group.id, [...new Set([...actions.values()].map((action) => action.id))]);
}

function nameOf(resource: Resource, group: Pick<ActionGroup, 'key'>): string {
	return `${resource.key}:${group.key}`;
}
