import { unprocessable } from '../failure.js';
import { groupBy } from '../group-by.js';
import { partsOf, Resource, ResourceAction, ResourceAttribute } from '../store/table/resource.js';
import { grantsOf, ofTenants, parentsOf, Role } from '../store/table/role.js';
import { holds, type ReadingUnit, type WritingUnit } from '../store/unit.js';
import { namesOf, rowsWithKeys } from '../store/whole.js';
import type { AttributeEntry, ResourceEntry, RoleEntry } from '../wire/environment-document.js';
import { AttributeType } from '../wire/resource-attribute.js';
import { userResource } from './environment.js';
import { changeResource, createResource, removeResource } from './resource.js';
import { changeAttribute, removeAttributes } from './resource-attribute.js';
import { changeRole, createRole, removeRole } from './role.js';
import {
	type Entry,
	entriesOfMap,
	mapValues,
	namesIn,
	nothingAt,
	type Part,
	placed,
	rowsByKey,
	valuesOf,
	type Written,
	without,
	withoutNulls,
} from './transfer-part.js';

/** The kinds of objects in the schema half of a document. */

const resources = ['schema', 'resources'] as const;
const userAttributes = ['schema', 'user_attributes'] as const;
const roles = ['schema', 'roles'] as const;
const nothingSaid = { description: null, attributes: null };

/**
 * Resources, each with its actions and attributes. `__user`, which every environment has, is one of them only where it
 * is not as in a new environment, and without its attributes: so that it conflicts with nothing by itself.
 */
export const resourcePart: Part<ResourceEntry> = {
	title: 'resource',
	member: resources,
	scope: (key) => ['resources', key],
	list: false,
	entriesOf: ({ schema }) => entriesOfMap(resources, mapValues(schema?.resources ?? {}, withActionNames)),
	async *portions(unit) {
		for await (const rows of rowsByKey(unit, Resource)) {
			const entries = await resourceEntries(unit, rows);
			yield entries.filter(({ name, value }) => name !== userResource.key || !holds(value, newUserResource));
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

const newUserResource: ResourceEntry = {
	...{ name: userResource.name, description: userResource.description, urn: null, type_attributes: null },
	...{ actions: {}, attributes: {} },
};

/** An action without a name is called by its key. */
function withActionNames(value: ResourceEntry): ResourceEntry {
	return { ...value, actions: mapValues(value.actions, (action, key) => ({ ...action, name: action.name ?? key })) };
}

async function writeResource(
	unit: WritingUnit,
	key: string,
	row: Resource | undefined,
	{ actions, attributes, name, ...fields }: ResourceEntry,
): Promise<void> {
	const blocks = { actions: mapValues(actions, withoutNulls), attributes: mapValues(attributes, withoutNulls) };
	if (row === undefined) await createResource(unit, { key, name, ...withoutNulls(fields), ...blocks });
	else if (row.built_in) await changeResource(unit, row, { name, ...fields, actions: blocks.actions });
	else await changeResource(unit, row, { name, ...fields, ...blocks });
}

async function resourceEntries(unit: ReadingUnit, rows: readonly Resource[]): Promise<readonly Entry<ResourceEntry>[]> {
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
	scope: () => ['resources', userResource.key],
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

/** Tenant roles, each with its permissions and with the roles it extends. */
export const rolePart: Part<RoleEntry> = {
	title: 'role',
	member: roles,
	scope: (key) => ['roles', key],
	list: false,
	entriesOf: ({ schema }) => entriesOfMap(roles, schema?.roles),
	async *portions(unit) {
		for await (const rows of rowsByKey(unit, Role, ofTenants)) yield roleEntries(unit, rows);
	},
	async held(unit, entries) {
		const rows = await rowsWithKeys(unit, Role, namesIn(entries), ofTenants);
		return valuesOf(await roleEntries(unit, [...rows.values()]));
	},
	shown: (value) => without(value, { ...nothingSaid, permissions: [], extends: [] }),
	async write(unit, entries) {
		const rows = new Map(await rowsWithKeys(unit, Role, entries.flatMap(rolesNamed), ofTenants));
		for (const { name, place, value } of await parentsFirst(unit, entries)) {
			const parents = value.extends.map((key, index) => {
				const parent = rows.get(key);
				if (parent === undefined) throw nothingAt([...place, 'extends', index], Role.title, key);
				return parent.id;
			});
			const row = rows.get(name);
			const body = { ...value, extends: parents };
			const written = await placed(place, () =>
				row === undefined ? createRole(unit, { key: name, ...withoutNulls(body) }) : changeRole(unit, row, body),
			);
			rows.set(name, written);
		}
	},
	async remove(unit, entries) {
		const rows = await rowsWithKeys(unit, Role, namesIn(entries), ofTenants);
		for (const row of rows.values()) await removeRole(unit, row);
	},
};

function rolesNamed({ name, value }: Entry<RoleEntry>): readonly string[] {
	return [name, ...value.extends];
}

async function roleEntries(unit: ReadingUnit, rows: readonly Role[]): Promise<readonly Entry<RoleEntry>[]> {
	const ids = rows.map((row) => row.id);
	const grants = groupBy(await grantsOf(unit, ids), (grant) => grant.role_id);
	const parents = groupBy(await parentsOf(unit, ids), (parent) => parent.role_id);
	return rows.map(({ id, key, name, description, attributes }) => ({
		name: key,
		place: [...roles, key],
		value: {
			...{ name, description, attributes },
			permissions: (grants.get(id) ?? []).map((grant) => `${grant.resource}:${grant.action}`),
			extends: (parents.get(id) ?? []).map(({ parent }) => parent),
		},
	}));
}

/**
 * Roles in an order in which what a role extends is written before it: so each can be written once, and no order of
 * steps meets a circle that the whole does not have. Throws `unprocessable` for a circle.
 */
async function parentsFirst(
	unit: ReadingUnit,
	entries: readonly Written<RoleEntry>[],
): Promise<readonly Written<RoleEntry>[]> {
	const parents = await parentsByKey(unit, entries);
	const children = groupBy(
		[...parents].flatMap(([child, keys]) => keys.map((parent) => ({ parent, child }))),
		({ parent }) => parent,
	);
	const waiting = new Map(
		[...parents].map(([key, keys]) => [key, keys.filter((parent) => parents.has(parent)).length]),
	);
	const free = [...waiting.keys()].filter((key) => waiting.get(key) === 0).reverse();
	const order = new Map<string, number>();
	for (let key = free.pop(); key !== undefined; key = free.pop()) {
		order.set(key, order.size);
		for (const { child } of children.get(key) ?? []) {
			const left = (waiting.get(child) ?? 0) - 1;
			waiting.set(child, left);
			if (left === 0) free.push(child);
		}
	}
	const circling = entries.find(({ name }) => !order.has(name));
	if (circling !== undefined) {
		const msg = `the role \`${circling.name}\` would extend itself, or a role that does`;
		throw unprocessable([{ loc: ['body', ...circling.place, 'extends'], msg, type: 'role_cycle' }]);
	}
	return entries.toSorted((left, right) => (order.get(left.name) ?? 0) - (order.get(right.name) ?? 0));
}

/** What each tenant role will extend, by keys, each once. */
async function parentsByKey(
	unit: ReadingUnit,
	entries: readonly Written<RoleEntry>[],
): Promise<ReadonlyMap<string, readonly string[]>> {
	const names = await namesOf(unit, Role, ofTenants);
	const held = groupBy(await parentsOf(unit), (row) => row.role_id);
	const now = names.map(({ id, key }) => [key, (held.get(id) ?? []).map(({ parent }) => parent)] as const);
	const then = entries.map(({ name, value }) => [name, [...new Set(value.extends)]] as const);
	return new Map([...now, ...then]);
}
