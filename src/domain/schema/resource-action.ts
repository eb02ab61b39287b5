import { actionGroupsWith } from '../../store/table/action-group.js';
import { rolesGranting } from '../../store/table/dependent-roles.js';
import { actionsIn, type Resource, ResourceAction } from '../../store/table/resource.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { ActionBlockEdit } from '../../wire/schema/resource.js';
import { recordActionGroupChanges } from './action-group.js';
import { type Blocks, findBlock, missingFrom } from './resource-blocks.js';
import { recordRoleChanges } from './role-record.js';
import { removeSetRules } from './set-rule-record.js';

/** Replaces a resource's actions. Remaining actions keep their ids, grants and groups. */
export async function setActions(
	unit: WritingUnit,
	resource: Resource,
	blocks: Blocks<ActionBlockEdit>,
): Promise<void> {
	const existing = await actionsIn(unit, [resource.id]).all();
	const dropped = existing.filter(({ key }) => findBlock(blocks, key) === undefined);
	await removeActions(unit, resource, dropped);
	for (const action of existing) {
		const block = findBlock(blocks, action.key);
		if (block === undefined) continue;
		await unit.update(ResourceAction, action, actionColumns(action.key, block), actionName(resource, action));
	}
	const added = missingFrom(existing, blocks).map(([key, block]) => ({
		key,
		...actionColumns(key, block),
		resource_id: resource.id,
	}));
	await unit.createMany(ResourceAction, added, (action) => actionName(resource, action));
}

/** Deletes a resource's actions with their grants and rules. Removes the actions from action groups and roles. */
export async function removeActions(
	unit: WritingUnit,
	resource: Resource,
	actions: readonly ResourceAction[],
): Promise<void> {
	if (actions.length === 0) return;
	const ids = actions.map((action) => action.id);
	await removeSetRules(unit, { action_ids: ids });
	const groups = await actionGroupsWith(unit, ids).all();
	await recordRoleChanges(unit, await rolesGranting(unit, ids).all(), async () => {
		await recordActionGroupChanges(unit, resource, groups, () =>
			unit.removeMany(ResourceAction, actions, (action) => actionName(resource, action)),
		);
		return [];
	});
}

function actionColumns(key: string, block: ActionBlockEdit) {
	return { name: block.name ?? key, description: block.description ?? null, attributes: block.attributes ?? null };
}

function actionName(resource: Resource, action: Pick<ResourceAction, 'key'>): string {
	return `${resource.key}:${action.key}`;
}
