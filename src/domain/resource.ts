import { Failure } from '../failure.js';
import { groupBy } from '../group-by.js';
import { partsOf, Resource, ResourceAction, ResourceAttribute } from '../store/table/resource.js';
import { rolesOfResources } from '../store/table/role.js';
import { holds, type ReadingUnit, type WritingUnit } from '../store/unit.js';
import type {
	ActionBlockEdit,
	AttributeBlockEdit,
	ResourceCreate,
	ResourceRead,
	ResourceUpdate,
} from '../wire/resource.js';
import { AttributeType, type ResourceAttributeUpdate } from '../wire/resource-attribute.js';
import { defined } from './defined.js';
import { only } from './only.js';
import { rolesByResource, setRoles } from './resource-role.js';
import { removeRoles } from './role.js';

type Fields = Partial<Pick<Resource, 'name' | 'urn' | 'description' | 'type_attributes'>>;

/** Resources as the API shows them, with their actions, attributes and roles. */
export async function readResources(unit: ReadingUnit, rows: readonly Resource[]): Promise<readonly ResourceRead[]> {
	const ids = rows.map((row) => row.id);
	const actions = await partsOf(unit.query(ResourceAction), 'resource_actions', ids);
	const attributes = await partsOf(unit.query(ResourceAttribute), 'resource_attributes', ids);
	const actionsOf = groupBy(actions, (action) => action.resource_id);
	const attributesOf = groupBy(attributes, (attribute) => attribute.resource_id);
	const rolesOf = await rolesByResource(unit, ids);
	return rows.map((row) => ({
		...row,
		...unit.scope,
		actions: byKey(actionsOf.get(row.id) ?? []),
		attributes: byKey((attributesOf.get(row.id) ?? []).map(readAttributeBlock)),
		roles: byKey(rolesOf.get(row.id) ?? []),
	}));
}

/** One resource as the API shows it. */
export async function readResource(unit: ReadingUnit, row: Resource): Promise<ResourceRead> {
	return only(await readResources(unit, [row]));
}

/** Adds a resource with its actions, attributes and roles. Throws `duplicate` when its key is taken. */
export async function createResource(unit: WritingUnit, body: ResourceCreate): Promise<Resource> {
	const { key, actions, attributes, roles, ...fields } = body;
	const resource = await unit.create(Resource, { key, ...columnsOf(fields) }, key);
	await setActions(unit, resource, actions);
	await setAttributes(unit, resource, attributes ?? {});
	await setRoles(unit, resource, roles ?? {});
	return resource;
}

/** Changes what is given of a resource; `actions`, `attributes` and `roles` are overwritten as a whole. */
export async function changeResource(unit: WritingUnit, resource: Resource, body: ResourceUpdate): Promise<Resource> {
	const { actions, attributes, roles, ...fields } = body;
	const after = await unit.update(Resource, resource, columnsOf(fields), resource.key);
	if (actions !== undefined) await setActions(unit, after, actions);
	if (attributes !== undefined) await setAttributes(unit, after, attributes ?? {});
	if (roles !== undefined) await setRoles(unit, after, roles);
	return after;
}

/** Deletes a resource with its roles, its actions and attributes, and all grants of its actions. Built-in ones stay. */
export async function removeResource(unit: WritingUnit, resource: Resource): Promise<void> {
	if (resource.built_in)
		throw new Failure('invalid', `the resource \`${resource.key}\` is built in and cannot be deleted`);
	await removeRoles(unit, await rolesOfResources(unit, [resource.id]));
	await unit.remove(Resource, resource, resource.key);
}

/** Deletes an action of a resource with all grants of it. */
export async function removeAction(unit: WritingUnit, resource: Resource, action: ResourceAction): Promise<void> {
	await unit.remove(ResourceAction, action, `${resource.key}:${action.key}`);
}

/** Changes what is given of an attribute of a resource. Built-in ones stay as they are. */
export async function changeAttribute(
	unit: WritingUnit,
	resource: Resource,
	attribute: ResourceAttribute,
	body: ResourceAttributeUpdate,
): Promise<ResourceAttribute> {
	if (attribute.built_in) throw builtIn(attribute, 'changed');
	return unit.update(ResourceAttribute, attribute, defined(body), `${resource.key}:${attribute.key}`);
}

/** Deletes an attribute of a resource. Built-in ones stay. */
export async function removeAttribute(
	unit: WritingUnit,
	resource: Resource,
	attribute: ResourceAttribute,
): Promise<void> {
	if (attribute.built_in) throw builtIn(attribute, 'deleted');
	await unit.remove(ResourceAttribute, attribute, `${resource.key}:${attribute.key}`);
}

/** Makes a resource have exactly these actions; those it keeps keep their ids and grants. */
async function setActions(unit: WritingUnit, resource: Resource, blocks: Blocks<ActionBlockEdit>): Promise<void> {
	const existing = await partsOf(unit.query(ResourceAction), 'resource_actions', [resource.id]);
	for (const action of existing) {
		const block = blockOf(blocks, action.key);
		if (block === undefined) await removeAction(unit, resource, action);
		else await unit.update(ResourceAction, action, actionColumns(action.key, block), `${resource.key}:${action.key}`);
	}
	const added = missingFrom(existing, blocks).map(([key, block]) => ({
		key,
		...actionColumns(key, block),
		resource_id: resource.id,
	}));
	await unit.createMany(ResourceAction, added, (action) => `${resource.key}:${action.key}`);
}

function builtIn(attribute: ResourceAttribute, done: 'changed' | 'deleted'): Failure {
	return new Failure('invalid', `the attribute \`${attribute.key}\` is built in and cannot be ${done}`);
}

/** Makes a resource have exactly these attributes beside the built-in ones, which may be named as they are. */
async function setAttributes(unit: WritingUnit, resource: Resource, blocks: Blocks<AttributeBlockEdit>): Promise<void> {
	const existing = await partsOf(unit.query(ResourceAttribute), 'resource_attributes', [resource.id]);
	for (const attribute of existing.filter((row) => row.built_in)) {
		const { type = attribute.type, description = attribute.description } = blockOf(blocks, attribute.key) ?? {};
		if (!holds(attribute, { type, description })) throw builtIn(attribute, 'changed');
	}
	for (const attribute of existing.filter((row) => !row.built_in)) {
		const block = blockOf(blocks, attribute.key);
		const name = `${resource.key}:${attribute.key}`;
		if (block === undefined) await unit.remove(ResourceAttribute, attribute, name);
		else await unit.update(ResourceAttribute, attribute, attributeColumns(block), name);
	}
	const added = missingFrom(existing, blocks).map(([key, block]) => ({
		key,
		...attributeColumns(block),
		resource_id: resource.id,
	}));
	await unit.createMany(ResourceAttribute, added, (attribute) => `${resource.key}:${attribute.key}`);
}

type Blocks<B> = Readonly<Record<string, B>>;

function blockOf<B>(blocks: Blocks<B>, key: string): B | undefined {
	return Object.hasOwn(blocks, key) ? blocks[key] : undefined;
}

function missingFrom<B>(existing: readonly { readonly key: string }[], blocks: Blocks<B>): readonly [string, B][] {
	const keys = new Set(existing.map((row) => row.key));
	return Object.entries(blocks).filter(([key]) => !keys.has(key));
}

function columnsOf(fields: { readonly [F in keyof Fields]: Fields[F] | undefined }): Fields {
	const { name, urn, description, type_attributes } = fields;
	return defined({ name, urn, description, type_attributes });
}

function actionColumns(key: string, block: ActionBlockEdit) {
	return { name: block.name ?? key, description: block.description ?? null, attributes: block.attributes ?? null };
}

function attributeColumns(block: AttributeBlockEdit) {
	return { type: block.type, description: block.description ?? null };
}

function readAttributeBlock(row: ResourceAttribute) {
	// The column only ever got values of this list.
	return { ...row, type: AttributeType.parse(row.type) };
}

function byKey<R extends { readonly key: string }>(rows: readonly R[]): Record<string, R> {
	return Object.fromEntries(rows.map((row) => [row.key, row]));
}
