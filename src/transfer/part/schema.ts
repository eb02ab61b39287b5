import { groupBy } from '../../../compiler/group-by.js';
import { userResource } from '../../domain/environment.js';
import { changeResource, createResource, removeWithParts } from '../../domain/schema/resource.js';
import { changeAttribute, removeAttributes } from '../../domain/schema/resource-attribute.js';
import { actionGroupsBy } from '../../store/table/action-group.js';
import { relationsBy } from '../../store/table/relation.js';
import { actionsIn, attributesIn, Resource, ResourceAttribute } from '../../store/table/resource.js';
import { rolesOfResources } from '../../store/table/role.js';
import { hasValues } from '../../store/unit/change-record.js';
import { rowsWithKeys } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { AttributeEntry, OwnResourceEntry, ResourceEntry } from '../../wire/general/environment-document.js';
import { AttributeType } from '../../wire/schema/resource-attribute.js';
import {
	type DocumentPart,
	type Entry,
	entryNames,
	mapEntries,
	mapValues,
	rowsInKeyOrder,
	valuesByName,
	withoutDefaults,
	withoutNulls,
	withPlace,
} from './part.js';

/** Resources with their actions and attributes, and user attributes, as document parts. */

const resources = ['schema', 'resources'] as const;
const userAttributes = ['schema', 'user_attributes'] as const;
const nothingSaid = { description: null, attributes: null };

/**
 * Resources with their actions and attributes. The resource `__user` exists in every environment. It is included only
 * if it was changed, and without its attributes, so it never causes a conflict on its own.
 */
export const resourcePart: DocumentPart<OwnResourceEntry> = {
	title: 'resource',
	member: resources,
	scope: ({ name }) => [['resources', name]],
	list: false,
	entriesIn: ({ schema }) => mapEntries(resources, mapValues(schema?.resources ?? {}, ownEntry)),
	async *chunks(unit) {
		const isNew = await isUserResourceNew(unit);
		for await (const rows of rowsInKeyOrder(unit, Resource)) {
			yield resourceEntries(
				unit,
				rows.filter(({ key }) => key !== userResource.key || !isNew),
			);
		}
	},
	stored: (unit, entries) => storedResources(unit, entryNames(entries)),
	toDocument: (value) => ({
		...withoutDefaults(value, { urn: null, description: null, type_attributes: null }),
		actions: mapValues(value.actions, (action) => withoutDefaults(action, nothingSaid)),
		attributes: mapValues(value.attributes, (attribute) => withoutDefaults(attribute, { description: null })),
	}),
	async write(unit, entries) {
		const rows = await rowsWithKeys(unit, Resource, entryNames(entries));
		for (const { name, place, value } of entries) {
			await withPlace(place, () => writeResource(unit, name, rows.get(name), value));
		}
	},
	async remove(unit, entries) {
		for (const row of (await rowsWithKeys(unit, Resource, entryNames(entries))).values()) {
			// A built-in resource cannot be deleted, so it is reset to its initial state.
			if (row.built_in) await writeResource(unit, row.key, row, newUserResource);
			else await removeWithParts(unit, row);
		}
	},
};

/** Returns the resources with these keys. */
export async function storedResources(
	unit: ReadingUnit,
	keys: readonly string[],
): Promise<ReadonlyMap<string, OwnResourceEntry>> {
	const rows = await rowsWithKeys(unit, Resource, keys);
	return valuesByName(await resourceEntries(unit, [...rows.values()]));
}

/** True if `__user` is in its initial state and has no nested objects. Its attributes are ignored. */
async function isUserResourceNew(unit: ReadingUnit): Promise<boolean> {
	const user = await findUserResource(unit);
	const entries = await resourceEntries(unit, [user]);
	if (entries.some(({ value }) => !hasValues(value, newUserResource))) return false;
	const owned = [relationsBy(unit, [user.id]), actionGroupsBy(unit, [user.id]), rolesOfResources(unit, [user.id])];
	for (const query of owned) if ((await query.count()) > 0) return false;
	return true;
}

const newUserResource: OwnResourceEntry = {
	name: userResource.name,
	description: userResource.description,
	urn: null,
	type_attributes: null,
	actions: {},
	attributes: {},
};

/** Returns a resource's own fields. An action without a name gets its key as the name. */
function ownEntry({ relations: _, action_groups: __, roles: ___, ...value }: ResourceEntry): OwnResourceEntry {
	return { ...value, actions: mapValues(value.actions, (action, key) => ({ ...action, name: action.name ?? key })) };
}

async function writeResource(
	unit: WritingUnit,
	key: string,
	row: Resource | undefined,
	{ actions, attributes, name, ...fields }: OwnResourceEntry,
): Promise<void> {
	const blocks = { actions: mapValues(actions, withoutNulls), attributes: mapValues(attributes, withoutNulls) };
	if (row === undefined) await createResource(unit, { key, name, ...withoutNulls(fields), ...blocks });
	else if (row.built_in) await changeResource(unit, row, { name, ...fields, actions: blocks.actions });
	else await changeResource(unit, row, { name, ...fields, ...blocks });
}

async function resourceEntries(
	unit: ReadingUnit,
	rows: readonly Resource[],
): Promise<readonly Entry<OwnResourceEntry>[]> {
	const ids = rows.map((row) => row.id);
	const actions = await actionsIn(unit, ids).all();
	const attributes = await attributesIn(unit, ids).all();
	const actionsByResource = groupBy(actions, (action) => action.resource_id);
	const attributesByResource = groupBy(attributes, (attribute) => attribute.resource_id);
	return rows.map(({ id, key, name, urn, description, type_attributes, built_in }) => ({
		name: key,
		place: [...resources, key],
		value: {
			name,
			urn,
			description,
			type_attributes,
			actions: byKey(actionsByResource.get(id), (row) => ({
				name: row.name,
				description: row.description,
				attributes: row.attributes,
			})),
			attributes: built_in ? {} : byKey(attributesByResource.get(id), attributeValue),
		},
	}));
}

function attributeValue({ type, description }: ResourceAttribute): AttributeEntry {
	// The column contains only values from this list.
	return { type: AttributeType.parse(type), description };
}

/** Maps rows in key order. */
function byKey<R extends { readonly key: string }, V>(rows: readonly R[] = [], make: (row: R) => V): Record<string, V> {
	const sorted = rows.toSorted((left, right) => (left.key < right.key ? -1 : 1));
	return Object.fromEntries(sorted.map((row) => [row.key, make(row)]));
}

/** User attributes, which are the attributes of `__user`, without the built-in attributes. */
export const userAttributePart: DocumentPart<AttributeEntry> = {
	title: 'user attribute',
	member: userAttributes,
	scope: () => [['resources', userResource.key]],
	list: false,
	entriesIn: ({ schema }) => mapEntries(userAttributes, schema?.user_attributes),
	async *chunks(unit) {
		const owner = { resource_id: (await findUserResource(unit)).id, built_in: false };
		for await (const rows of rowsInKeyOrder(unit, ResourceAttribute, owner)) yield rows.map(attributeEntry);
	},
	async stored(unit, entries) {
		const { id } = await findUserResource(unit);
		const rows = await rowsWithKeys(unit, ResourceAttribute, entryNames(entries), { resource_id: id });
		return valuesByName([...rows.values()].map(attributeEntry));
	},
	toDocument: (value) => withoutDefaults(value, { description: null }),
	async write(unit, entries) {
		const owner = await findUserResource(unit);
		const rows = await rowsWithKeys(unit, ResourceAttribute, entryNames(entries), { resource_id: owner.id });
		for (const { name: key, place, value } of entries) {
			const row = rows.get(key);
			const columns = { key, ...value, resource_id: owner.id };
			await withPlace(place, () =>
				row === undefined
					? unit.create(ResourceAttribute, columns, `${owner.key}:${key}`)
					: changeAttribute(unit, owner, row, value),
			);
		}
	},
	async remove(unit, entries) {
		const owner = await findUserResource(unit);
		const rows = await rowsWithKeys(unit, ResourceAttribute, entryNames(entries), { resource_id: owner.id });
		await removeAttributes(unit, owner, [...rows.values()]);
	},
};

async function findUserResource(unit: ReadingUnit): Promise<Resource> {
	return unit.find(Resource, userResource.key);
}

function attributeEntry(row: ResourceAttribute): Entry<AttributeEntry> {
	return { name: row.key, place: [...userAttributes, row.key], value: attributeValue(row) };
}
