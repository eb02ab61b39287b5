import { actionGroupsWith } from '../store/table/action-group.js';
import { rolesGranting } from '../store/table/dependent.js';
import { partsOf, type Resource, ResourceAction } from '../store/table/resource.js';
import type { WritingUnit } from '../store/unit.js';
import type { ActionBlockEdit } from '../wire/resource.js';
import { recordingActionGroups } from './action-group.js';
import { type Blocks, blockOf, missingFrom } from './blocks.js';
import { recordingRoles } from './role-record.js';
import { removeRules } from './set-rule-record.js';

/** Makes a resource have exactly these actions; those it keeps keep their ids, grants and groups. */
export async function setActions(
	unit: WritingUnit,
	resource: Resource,
	blocks: Blocks<ActionBlockEdit>,
): Promise<void> {
	const existing = await partsOf(unit.query(ResourceAction), 'resource_actions', [resource.id]);
	await removeActions(
		unit,
		resource,
		existing.filter(({ key }) => blockOf(blocks, key) === undefined),
	);
	for (const action of existing) {
		const block = blockOf(blocks, action.key);
		if (block === undefined) continue;
		await unit.update(ResourceAction, action, columnsOf(action.key, block), nameOf(resource, action));
	}
	const added = missingFrom(existing, blocks).map(([key, block]) => ({
		key,
		...columnsOf(key, block),
		resource_id: resource.id,
	}));
	await unit.createMany(ResourceAction, added, (action) => nameOf(resource, action));
}

/**
 * Deletes actions of a resource with all grants of them and rules about them; groups of actions and roles that
 * held them lose them.
 */
export async function removeActions(
	unit: WritingUnit,
	resource: Resource,
	actions: readonly ResourceAction[],
): Promise<void> {
	if (actions.length === 0) return;
	const ids = actions.map((action) => action.id);
	await removeRules(unit, { action_ids: ids });
	const groups = await actionGroupsWith(unit, ids);
	await recordingRoles(unit, await rolesGranting(unit, ids), async () => {
		await recordingActionGroups(unit, resource, groups, () =>
			unit.removeMany(ResourceAction, actions, (action) => nameOf(resource, action)),
		);
		return [];
	});
}

function columnsOf(key: string, block: ActionBlockEdit) {
	return { name: block.name ?? key, description: block.description ?? null, attributes: block.attributes ?? null };
}

function nameOf(resource: Resource, action: Pick<ResourceAction, 'key'>): string {
	return `${resource.key}:${action.key}`;
}
