import { Failure } from '../failure.js';
import { groupBy } from '../group-by.js';
import { actionGroupsBy } from '../store/table/action-group.js';
import { conditionSetsOfResources } from '../store/table/condition-set.js';
import { relationsAround } from '../store/table/relation.js';
import {
	actionsBy,
	attributesBy,
	partsOf,
	Resource,
	ResourceAction,
	ResourceAttribute,
} from '../store/table/resource.js';
import { rolesOfResources } from '../store/table/role.js';
import type { ReadingUnit, WritingUnit } from '../store/unit.js';
import type { ResourceCreate, ResourceRead, ResourceUpdate } from '../wire/resource.js';
import { AttributeType } from '../wire/resource-attribute.js';
import { actionGroupBlocks, removeActionGroups } from './action-group.js';
import { byKey } from './blocks.js';
import { removeConditionSets } from './condition-set.js';
import { defined } from './defined.js';
import { only } from './only.js';
import { relationBlocks, removeRelations, setRelations } from './relation.js';
import { removeActions, setActions } from './resource-action.js';
import { removeAttributes, setAttributes } from './resource-attribute.js';
import { removeInstances } from './resource-instance.js';
import { rolesByResource, setRoles } from './resource-role.js';
import { removeRoles } from './role.js';

type Fields = Partial<Pick<Resource, 'name' | 'urn' | 'description' | 'type_attributes'>>;

/** Resources as the API shows them, with all that is defined for them. */
export async function readResources(unit: ReadingUnit, rows: readonly Resource[]): Promise<readonly ResourceRead[]> {
	const ids = rows.map((row) => row.id);
	const actions = await partsOf(unit.query(ResourceAction), 'resource_actions', ids);
	const attributes = await partsOf(unit.query(ResourceAttribute), 'resource_attributes', ids);
	const actionsOf = groupBy(actions, (action) => action.resource_id);
	const attributesOf = groupBy(attributes, (attribute) => attribute.resource_id);
	const relationsOf = await relationBlocks(unit, ids);
	const actionGroupsOf = await actionGroupBlocks(unit, ids);
	const rolesOf = await rolesByResource(unit, ids);
	return rows.map((row) => ({
		...row,
		...unit.scope,
		actions: byKey(actionsOf.get(row.id) ?? []),
		attributes: byKey((attributesOf.get(row.id) ?? []).map(readAttributeBlock)),
		relations: relationsOf(row.id),
		action_groups: actionGroupsOf(row.id),
		roles: byKey(rolesOf.get(row.id) ?? []),
	}));
}

/** One resource as the API shows it. */
export async function readResource(unit: ReadingUnit, row: Resource): Promise<ResourceRead> {
	return only(await readResources(unit, [row]));
}

/**
 * Adds a resource with its actions, attributes, relations and roles. Throws `duplicate` when its key is taken,
 * `not_found` for what its relations and roles name.
 */
export async function createResource(unit: WritingUnit, body: ResourceCreate): Promise<Resource> {
	const { key, actions, attributes, relations, roles, ...fields } = body;
	const resource = await unit.create(Resource, { key, ...columnsOf(fields) }, key);
	await setActions(unit, resource, actions);
	await setAttributes(unit, resource, attributes ?? {});
	await setRelations(unit, resource, relations ?? {});
	await setRoles(unit, resource, roles ?? {});
	return resource;
}

/** Changes what is given of a resource; what it is made of (`actions`, `roles` and so on) is overwritten as a whole. */
export async function changeResource(unit: WritingUnit, resource: Resource, body: ResourceUpdate): Promise<Resource> {
	const { actions, attributes, relations, roles, ...fields } = body;
	const after = await unit.update(Resource, resource, columnsOf(fields), resource.key);
	if (actions !== undefined) await setActions(unit, after, actions);
	if (attributes !== undefined) await setAttributes(unit, after, attributes ?? {});
	if (relations !== undefined) await setRelations(unit, after, relations);
	if (roles !== undefined) await setRoles(unit, after, roles);
	return after;
}

/** Deletes a resource with all that is defined for it and all that is of it. Built-in ones stay. */
export async function removeResource(unit: WritingUnit, resource: Resource): Promise<void> {
	if (resource.built_in)
		throw new Failure('invalid', `the resource \`${resource.key}\` is built in and cannot be deleted`);
	await removeParts(unit, resource);
	await unit.remove(Resource, resource, resource.key);
}

/**
 * Deletes and records what goes with a resource: its instances, its condition sets, its roles, its relations on both
 * sides, its groups of actions, its actions and its attributes.
 */
async function removeParts(unit: WritingUnit, resource: Resource): Promise<void> {
	await removeInstances(unit, { resource_ids: [resource.id] });
	await removeConditionSets(unit, await conditionSetsOfResources(unit, [resource.id]));
	await removeRoles(unit, await rolesOfResources(unit, [resource.id]));
	await removeRelations(unit, await relationsAround(unit, resource.id));
	await removeActionGroups(unit, resource, await actionGroupsBy(unit, [resource.id]));
	await removeActions(unit, resource, await actionsBy(unit, resource.id, []));
	await removeAttributes(unit, resource, await attributesBy(unit, resource.id));
}

function columnsOf(fields: { readonly [F in keyof Fields]: Fields[F] | undefined }): Fields {
	const { name, urn, description, type_attributes } = fields;
	return defined({ name, urn, description, type_attributes });
}

function readAttributeBlock(row: ResourceAttribute) {
	// The column only ever got values of this list.
	return { ...row, type: AttributeType.parse(row.type) };
}
