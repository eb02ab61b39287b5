import { type GroupRow, groupsAmong, groupsBy } from '../store/table/group.js';
import { objectsMadeForGroups } from '../store/table/made-for-groups.js';
import { Relation } from '../store/table/relation.js';
import { Resource } from '../store/table/resource.js';
import { Role } from '../store/table/role.js';
import type { ReadingUnit, WritingUnit } from '../store/unit.js';
import { instanceName } from '../wire/common.js';
import type { GroupEntry, MadeForGroupsEntry } from '../wire/environment-document.js';
import { markGroups, unmarkGroups } from './group-mark.js';
import { type SchemaObject, setMadeForGroups } from './made-for-groups.js';
import { referencesToInstances, rowsNamed } from './transfer-instance.js';
import {
	type Entry,
	entriesOfList,
	entriesOfMap,
	namesIn,
	type Part,
	portionsOf,
	sortedEntries,
	valuesOf,
	without,
} from './transfer-part.js';
import { referencesTo, referencesToParts } from './transfer-reference.js';

/** Which instances are groups, and what was made only for groups. */

const member = ['facts', 'groups'] as const;

/** Groups, named as their instances are; what else groups are is among the relationships and assignments. */
export const groupPart: Part<GroupEntry> = {
	title: 'group',
	member,
	scope: null,
	list: false,
	entriesOf: ({ facts }) => entriesOfMap(member, facts?.groups),
	async *portions(unit) {
		const groups = (await groupsBy(unit, {}).clearOrder().castTo<GroupRow[]>()).map(entryOf);
		yield* portionsOf(groups.toSorted((left, right) => (left.name < right.name ? -1 : 1)));
	},
	async held(unit, entries) {
		return valuesOf((await groupsNamed(unit, entries)).map(entryOf));
	},
	shown: (value) => without(value, { made_instance: false }),
	async write(unit, entries) {
		const instanceAt = await referencesToInstances(unit, namesIn(entries));
		const groups = entries.map(({ name, place, value }) => Object.assign(instanceAt(name, place), value));
		await unmarkGroups(
			unit,
			groups.map(({ id }) => id),
		);
		await markGroups(unit, groups);
	},
	async remove(unit, entries) {
		await unmarkGroups(
			unit,
			(await groupsNamed(unit, entries)).map(({ id }) => id),
		);
	},
};

async function groupsNamed(unit: ReadingUnit, entries: readonly Entry<GroupEntry>[]): Promise<readonly GroupRow[]> {
	const instances = await rowsNamed(unit, namesIn(entries));
	return groupsAmong(
		unit,
		instances.map(({ id }) => id),
	);
}

function entryOf({ resource, key, made_instance }: GroupRow): Entry<GroupEntry> {
	const name = instanceName(resource, key);
	return { name, place: [...member, name], value: { made_instance } };
}

const made = ['facts', 'made_for_groups'] as const;

/** What of the schema was made for groups. It is no part of the schema, which says the same whoever made it. */
export const madeForGroupsPart: Part<MadeForGroupsEntry> = {
	title: 'mark of what was made for groups',
	member: made,
	scope: null,
	list: true,
	entriesOf: ({ facts }) => entriesOfList(made, facts?.made_for_groups, nameOf),
	async *portions(unit) {
		yield sortedEntries(await objectsMadeForGroups(unit), nameOf);
	},
	async held(unit) {
		return valuesOf(sortedEntries(await objectsMadeForGroups(unit), nameOf));
	},
	shown: (value) => without(value, { role: null, relation: null }),
	async write(unit, entries) {
		for (const object of await resolve(unit, entries)) await setMadeForGroups(unit, object, true);
	},
	async remove(unit: WritingUnit, entries) {
		for (const object of await resolve(unit, entries)) await setMadeForGroups(unit, object, false);
	},
};

/** What the entries name. */
async function resolve(
	unit: ReadingUnit,
	entries: readonly Entry<MadeForGroupsEntry>[],
): Promise<readonly SchemaObject[]> {
	const values = entries.map(({ value }) => value);
	const resourceAt = await referencesTo(
		unit,
		Resource,
		values.map(({ resource }) => resource),
	);
	const roleAt = await referencesToParts(
		unit,
		Role,
		values.flatMap(({ resource, role }) => (role === null ? [] : [{ resource, key: role }])),
	);
	const relationAt = await referencesToParts(
		unit,
		Relation,
		values.flatMap(({ resource, relation }) => (relation === null ? [] : [{ resource, key: relation }])),
	);
	return entries.map(({ place, value: { resource, role, relation } }) => ({
		resource: resourceAt(resource, [...place, 'resource']),
		role: role === null ? undefined : roleAt({ resource, key: role }, [...place, 'role']),
		relation: relation === null ? undefined : relationAt({ resource, key: relation }, [...place, 'relation']),
	}));
}

function nameOf({ resource, role, relation }: MadeForGroupsEntry): string {
	return [resource, role === null ? '' : `role ${role}`, relation === null ? '' : `relation ${relation}`].join(' ');
}
