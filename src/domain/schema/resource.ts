import { groupBy } from '../../../compiler/group-by.js';
import { Failure } from '../../failure.js';
import { onlyRow } from '../../store/query/only-row.js';
import { actionGroupsBy } from '../../store/table/action-group.js';
import { conditionSetsOfResources } from '../../store/table/condition-set.js';
import { relationsAround } from '../../store/table/relation.js';
import { actionsIn, attributesIn, Resource, type ResourceAttribute } from '../../store/table/resource.js';
import { rolesOfResources } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { ResourceCreate, ResourceRead, ResourceUpdate } from '../../wire/schema/resource.js';
import { AttributeType } from '../../wire/schema/resource-attribute.js';
import { removeRequests } from '../element/request-record.js';
import { removeInstances } from '../facts/resource-instance.js';
import { actionGroupBlocks, removeActionGroups } from './action-group.js';
import { removeConditionSets } from './condition-set.js';
import { definedFields } from './defined-fields.js';
import { refuseRolesOfSets } from './grantable-to.js';
import { refuseReadResource } from './related-resource.js';
import { relationBlocks, removeRelations, setRelations } from './relation.js';
import { removeActions, setActions } from './resource-action.js';
import { removeAttributes, setAttributes } from './resource-attribute.js';
import { recordByKey } from './resource-blocks.js';
import { rolesByResource, setRoles } from './resource-role.js';
import { removeRoles } from './role.js';

type Fields = Partial<Pick<Resource, 'name' | 'urn' | 'description' | 'type_attributes'>>;

/** Converts resources to API objects with all their parts. */
export async function readResources(unit: ReadingUnit, rows: readonly Resource[]): Promise<readonly ResourceRead[]> {
	const ids = rows.map((row) => row.id);
	const actions = await actionsIn(unit, ids).all();
	const attributes = await attributesIn(unit, ids).all();
	const actionsByResource = groupBy(actions, (action) => action.resource_id);
	const attributesByResource = groupBy(attributes, (attribute) => attribute.resource_id);
	const relationsFor = await relationBlocks(unit, ids);
	const actionGroupsFor = await actionGroupBlocks(unit, ids);
	const roles = await rolesByResource(unit, ids);
	return rows.map((row) => ({
		...row,
		...unit.scope,
		actions: recordByKey(actionsByResource.get(row.id) ?? []),
		attributes: recordByKey((attributesByResource.get(row.id) ?? []).map(readAttributeBlock)),
		relations: relationsFor(row.id),
		action_groups: actionGroupsFor(row.id),
		roles: recordByKey(roles.get(row.id) ?? []),
	}));
}

export async function readResource(unit: ReadingUnit, row: Resource): Promise<ResourceRead> {
	return onlyRow(await readResources(unit, [row]));
}

/**
 * Adds a resource with its actions, attributes, relations and roles. Throws `duplicate` if its key is taken, and
 * `not_found` for missing objects in its relations and roles.
 */
export async function createResource(unit: WritingUnit, body: ResourceCreate): Promise<Resource> {
	const { key, actions, attributes, relations, roles, ...fields } = body;
	const resource = await unit.create(Resource, { key, ...resourceColumns(fields) }, key);
	await setActions(unit, resource, actions);
	await setAttributes(unit, resource, attributes ?? {});
	await setRelations(unit, resource, relations ?? {});
	await setRoles(unit, resource, roles ?? {});
	return resource;
}

/** Changes the passed resource fields. Replaces each passed part (`actions`, `roles` and so on) as a whole. */
export async function changeResource(unit: WritingUnit, resource: Resource, body: ResourceUpdate): Promise<Resource> {
	const { actions, attributes, relations, roles, ...fields } = body;
	const after = await unit.update(Resource, resource, resourceColumns(fields), resource.key);
	if (actions !== undefined) await setActions(unit, after, actions);
	if (attributes !== undefined) await setAttributes(unit, after, attributes ?? {});
	if (relations !== undefined) await setRelations(unit, after, relations);
	if (roles !== undefined) await setRoles(unit, after, roles);
	return after;
}

/**
 * Deletes a resource with its parts and instances. Throws `invalid` for a built-in resource, and `conflict` if other
 * resources' condition sets read its instances, or if `grantable_to` of other resources' roles contains its roles.
 */
export async function removeResource(unit: WritingUnit, resource: Resource): Promise<void> {
	await refuseReadResource(unit, resource);
	await refuseRolesOfSets(unit, await rolesOfResources(unit, [resource.id]).all());
	await removeWithParts(unit, resource);
}

/**
 * Like `removeResource`, without its conflict checks. The caller must ensure that no remaining condition set reads the
 * instances, and that no remaining role has the roles in `grantable_to`.
 */
export async function removeWithParts(unit: WritingUnit, resource: Resource): Promise<void> {
	if (resource.built_in)
		throw new Failure('invalid', `the resource \`${resource.key}\` is built-in and cannot be deleted`);
	await removeParts(unit, resource);
	await unit.remove(Resource, resource, resource.key);
}

/**
 * Deletes and records all resource parts: its instances, condition sets, roles, requests, relations on both sides,
 * action groups, actions and attributes.
 */
async function removeParts(unit: WritingUnit, resource: Resource): Promise<void> {
	await removeInstances(unit, { resource_ids: [resource.id] });
	await removeConditionSets(unit, await conditionSetsOfResources(unit, [resource.id]).all());
	await removeRoles(unit, await rolesOfResources(unit, [resource.id]).all());
	await removeRequests(unit, { resource_ids: [resource.id] });
	await removeRelations(unit, await relationsAround(unit, resource.id).all());
	await removeActionGroups(unit, resource, await actionGroupsBy(unit, [resource.id]).all());
	await removeActions(unit, resource, await actionsIn(unit, [resource.id]).all());
	await removeAttributes(unit, resource, await attributesIn(unit, [resource.id]).all());
}

function resourceColumns(fields: { readonly [F in keyof Fields]: Fields[F] | undefined }): Fields {
	const { name, urn, description, type_attributes } = fields;
	return definedFields({ name, urn, description, type_attributes });
}

function readAttributeBlock(row: ResourceAttribute) {
	// The column contains only values from this list.
	return { ...row, type: AttributeType.parse(row.type) };
}
