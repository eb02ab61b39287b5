import { groupBy } from '../group-by.js';
import { actionGroupsBy } from '../store/table/action-group.js';
import { relationsBy } from '../store/table/relation.js';
import { partsOf, Resource, ResourceAction, ResourceAttribute } from '../store/table/resource.js';
import { rolesOfResources } from '../store/table/role.js';
import { holds, type ReadingUnit, type WritingUnit } from '../store/unit.js';
import { rowsWithKeys } from '../store/whole.js';
import type { AttributeEntry, ResourceEntry } from '../wire/environment-document.js';
import { AttributeType } from '../wire/resource-attribute.js';
import { userResource } from './environment.js';
import { changeResource, createResource, removeResource } from './resource.js';
import { changeAttribute, removeAttributes } from './resource-attribute.js';
import {
	type Entry,
	entriesOfMap,
	mapValues,
	namesIn,
	type Part,
	placed,
	rowsByKey,
	valuesOf,
	without,
	withoutNulls,
} from './transfer-part.js';

/** Resources with what is a part of them, and the attributes of users. */

/** A resource without what is an object of its own. */
type OwnEntry = Omit<ResourceEntry, 'relations' | 'action_groups' | 'roles'>;

const resources = ['schema', 'resources'] as const;
const userAttributes = ['schema', 'user_attributes'] as const;
const nothingSaid = { description: null, attributes: null };

/**
 * Resources, each with its actions and attributes. `__user`, which every environment has, is one of them only where it
 * is not as in a new environment, and without its attributes: so that it conflicts with nothing by itself.
 */
export const resourcePart: Part<OwnEntry> = {
	title: 'resource',
	member: resources,
	scope: ({ name }) => [['resources', name]],
	list: false,
	entriesOf: ({ schema }) => entriesOfMap(resources, mapValues(schema?.resources ?? {}, ownEntry)),
	async *portions(unit) {
		const isNew = await isUserResourceNew(unit);
		for await (const rows of rowsByKey(unit, Resource)) {
			yield resourceEntries(
				unit,
				rows.filter(({ key }) => key !== userResource.key || !isNew),
			);
		}
	},
	async held(unit, entries) {
		const rows = await rowsWithKeys(unit, Resource, namesIn(entries));
		return valuesOf(await resourceEntries(unit, [...rows.values()]));
	},
	shown: (value) => ({
		...without(value, { urn: null, description: null, type_attributes: null }),
		actions: mapValues(value.actions, (action) => without(action, nothingSaid)),
		attributes: mapValues(value.attributes, (attribute) => without(attribute, { description: null })),
	}),
	async write(unit, entries) {
		const rows = await rowsWithKeys(unit, Resource, namesIn(entries));
		for (const { name, place, value } of entries) {
			await placed(place, () => writeResource(unit, name, rows.get(name), value));
		}
	},
	async remove(unit, entries) {
		for (const row of (await rowsWithKeys(unit, Resource, namesIn(entries))).values()) {
			// What is built in does not go: it becomes as in a new environment.
			if (row.built_in) await writeResource(unit, row.key, row, newUserResource);
			else await removeResource(unit, row);
		}
	},
};

/** Whether `__user` is as in a new environment, but for its attributes, and nothing belongs to it. */
async function isUserResourceNew(unit: ReadingUnit): Promise<boolean> {
	const user = await userResourceOf(unit);
	const entries = await resourceEntries(unit, [user]);
	if (entries.some(({ value }) => !holds(value, newUserResource))) return false;
	const owned = [relationsBy(unit, [user.id]), actionGroupsBy(unit, [user.id]), rolesOfResources(unit, [user.id])];
	for (const query of owned) if ((await query.resultSize()) > 0) return false;
	return true;
}

const newUserResource: OwnEntry = {
	...{ name: userResource.name, description: userResource.description, urn: null, type_attributes: null },
	...{ actions: {}, attributes: {} },
};

/** An action without a name is called by its key. */
function ownEntry({ relations: _, action_groups: __, roles: ___, ...value }: ResourceEntry): OwnEntry {
	return { ...value, actions: mapValues(value.actions, (action, key) => ({ ...action, name: action.name ?? key })) };
}

async function writeResource(
	unit: WritingUnit,
	key: string,
	row: Resource | undefined,
	{ actions, attributes, name, ...fields }: OwnEntry,
): Promise<void> {
	const blocks = { actions: mapValues(actions, withoutNulls), attributes: mapValues(attributes, withoutNulls) };
	if (row === undefined) await createResource(unit, { key, name, ...withoutNulls(fields), ...blocks });
	else if (row.built_in) await changeResource(unit, row, { name, ...fields, actions: blocks.actions });
	else await changeResource(unit, row, { name, ...fields, ...blocks });
}

async function resourceEntries(unit: ReadingUnit, rows: readonly Resource[]): Promise<readonly Entry<OwnEntry>[]> {
	const ids = rows.map((row) => row.id);
	const actions = await partsOf(unit.query(ResourceAction), 'resource_actions', ids);
	const attributes = await partsOf(unit.query(ResourceAttribute), 'resource_attributes', ids);
	const actionsOf = groupBy(actions, (action) => action.resource_id);
	const attributesOf = groupBy(attributes, (attribute) => attribute.resource_id);
	return rows.map(({ id, key, name, urn, description, type_attributes, built_in }) => ({
		name: key,
		place: [...resources, key],
		value: {
			...{ name, urn, description, type_attributes },
			actions: byKey(actionsOf.get(id), (row) => ({
				name: row.name,
				description: row.description,
				attributes: row.attributes,
			})),
			attributes: built_in ? {} : byKey(attributesOf.get(id), attributeValue),
		},
	}));
}

function attributeValue({ type, description }: ResourceAttribute): AttributeEntry {
	// The column only ever got values of this list.
	return { type: AttributeType.parse(type), description };
}

/** A map of rows in the order of their keys. */
function byKey<R extends { readonly key: string }, V>(rows: readonly R[] = [], make: (row: R) => V): Record<string, V> {
	const sorted = rows.toSorted((left, right) => (left.key < right.key ? -1 : 1));
	return Object.fromEntries(sorted.map((row) => [row.key, make(row)]));
}

/** Attributes of users: those of the resource `__user`, without the built-in ones. */
export const userAttributePart: Part<AttributeEntry> = {
	title: 'user attribute',
	member: userAttributes,
	scope: () => [['resources', userResource.key]],
	list: false,
	entriesOf: ({ schema }) => entriesOfMap(userAttributes, schema?.user_attributes),
	async *portions(unit) {
		const owner = { resource_id: (await userResourceOf(unit)).id, built_in: false };
		for await (const rows of rowsByKey(unit, ResourceAttribute, owner)) yield rows.map(attributeEntry);
	},
	async held(unit, entries) {
		const { id } = await userResourceOf(unit);
		const rows = await rowsWithKeys(unit, ResourceAttribute, namesIn(entries), { resource_id: id });
		return valuesOf([...rows.values()].map(attributeEntry));
	},
	shown: (value) => without(value, { description: null }),
	async write(unit, entries) {
		const owner = await userResourceOf(unit);
		const rows = await rowsWithKeys(unit, ResourceAttribute, namesIn(entries), { resource_id: owner.id });
		for (const { name: key, place, value } of entries) {
			const row = rows.get(key);
			const columns = { key, ...value, resource_id: owner.id };
			await placed(place, () =>
				row === undefined
					? unit.create(ResourceAttribute, columns, `${owner.key}:${key}`)
					: changeAttribute(unit, owner, row, value),
			);
		}
	},
	async remove(unit, entries) {
		const owner = await userResourceOf(unit);
		const rows = await rowsWithKeys(unit, ResourceAttribute, namesIn(entries), { resource_id: owner.id });
		await removeAttributes(unit, owner, [...rows.values()]);
	},
};

async function userResourceOf(unit: ReadingUnit): Promise<Resource> {
	return unit.find(Resource, userResource.key);
}

function attributeEntry(row: ResourceAttribute): Entry<AttributeEntry> {
	return { name: row.key, place: [...userAttributes, row.key], value: attributeValue(row) };
}
