import { groupBy } from '../../../compiler/group-by.js';
import { onlyRow } from '../../store/query/only-row.js';
import {
	ActionGroup,
	actionGroupsBy,
	type GroupedActionRow,
	groupedActions,
	replaceGroupedActions,
} from '../../store/table/action-group.js';
import { type Resource, ResourceAction } from '../../store/table/resource.js';
import type { ChangedRecord } from '../../store/unit/change.js';
import { changeRecord, hasValues } from '../../store/unit/change-record.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { Columns } from '../../store/unit/table-model.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { ActionGroupCreate, ActionGroupRead, ActionGroupUpdate } from '../../wire/schema/action-group.js';
import { definedFields } from './defined-fields.js';

/** Converts action groups to API objects. */
export async function readActionGroups(
	unit: ReadingUnit,
	rows: readonly ActionGroup[],
): Promise<readonly ActionGroupRead[]> {
	const actionKeys = await actionsByGroup(unit, rows);
	return rows.map((row) => ({ ...row, ...unit.scope, actions: actionKeys(row) }));
}

export async function readActionGroup(unit: ReadingUnit, row: ActionGroup): Promise<ActionGroupRead> {
	return onlyRow(await readActionGroups(unit, [row]));
}

/** Returns a function that maps a resource id to the resource's action groups, keyed by group key. */
export async function actionGroupBlocks(
	unit: ReadingUnit,
	resourceIds: readonly string[],
): Promise<(resourceId: string) => Record<string, string[]>> {
	const rows = await actionGroupsBy(unit, resourceIds).all();
	const actionKeys = await actionsByGroup(unit, rows);
	const groups = groupBy(rows, (row) => row.resource_id);
	return (id) => Object.fromEntries((groups.get(id) ?? []).map((row) => [row.key, actionKeys(row)]));
}

/** Adds an action group to a resource. Throws `duplicate`, or `not_found` for an action missing from the resource. */
export async function createActionGroup(
	unit: WritingUnit,
	resource: Resource,
	body: ActionGroupCreate,
): Promise<ActionGroup> {
	const { actions, ...fields } = body;
	const columns = { ...definedFields(fields), ...unit.stamp(), resource_id: resource.id };
	const name = groupName(resource, body);
	const group = onlyRow(await unit.insert(ActionGroup, [columns], () => name));
	await setGroupedActions(unit, group, actions);
	unit.record('action_group', 'create', name, null, await groupRecord(unit, group));
	return group;
}

/** Changes the passed action group fields. Replaces `actions` and `attributes` as a whole. */
export async function changeActionGroup(
	unit: WritingUnit,
	resource: Resource,
	group: ActionGroup,
	body: ActionGroupUpdate,
): Promise<ActionGroup> {
	const { actions, ...fields } = body;
	return onlyRow(
		await recordActionGroupChanges(
			unit,
			resource,
			[group],
			async () => {
				if (actions !== undefined) await setGroupedActions(unit, group, actions);
			},
			definedFields(fields),
		),
	);
}

/** Deletes a resource's action groups, but not the actions in them. */
export async function removeActionGroups(
	unit: WritingUnit,
	resource: Resource,
	groups: readonly ActionGroup[],
): Promise<void> {
	await unit.removeMany(ActionGroup, groups, (group) => groupName(resource, group));
}

/**
 * Runs `work`, which may change the groups' actions, then sets `columns` on the groups. Records the changed groups, and
 * does not touch unchanged groups. Returns the current groups in the order of `groups`.
 */
export async function recordActionGroupChanges(
	unit: WritingUnit,
	resource: Resource,
	groups: readonly ActionGroup[],
	work: () => Promise<void>,
	columns: Columns<ActionGroup> = {},
): Promise<readonly ActionGroup[]> {
	const before: [ActionGroup, ChangedRecord][] = [];
	for (const group of groups) before.push([group, await groupRecord(unit, group)]);
	await work();
	const now: ActionGroup[] = [];
	for (const [group, record] of before) {
		const unchanged = hasValues(record, { ...(await groupRecord(unit, group)), ...columns });
		const after = unchanged ? group : await unit.change(ActionGroup, group, columns);
		now.push(after);
		if (unchanged) continue;
		unit.record('action_group', 'update', groupName(resource, group), record, await groupRecord(unit, after));
	}
	return now;
}

async function groupRecord(unit: ReadingUnit, group: ActionGroup): Promise<ChangedRecord> {
	return { ...changeRecord(group), actions: (await groupedActions(unit, [group.id])).map(({ key }) => key) };
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

function groupName(resource: Resource, group: Pick<ActionGroup, 'key'>): string {
	return `${resource.key}:${group.key}`;
}
