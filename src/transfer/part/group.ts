import { markGroups, unmarkGroups } from '../../domain/group/group-mark.js';
import { type SchemaObject, setMadeForGroups } from '../../domain/group/made-for-groups.js';
import { allGroups, type GroupRow, groupsAmong } from '../../store/table/group/group.js';
import { objectsMadeForGroups } from '../../store/table/group/made-for-groups.js';
import { Relation } from '../../store/table/relation.js';
import { Resource } from '../../store/table/resource.js';
import { Role } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceName } from '../../wire/common.js';
import type { GroupEntry, MadeForGroupsEntry } from '../../wire/general/environment-document.js';
import { findNamedInstances, instanceResolver } from './instance.js';
import {
	chunked,
	type DocumentPart,
	type Entry,
	entryNames,
	listEntries,
	mapEntries,
	sortedEntries,
	valuesByName,
	withoutDefaults,
} from './part.js';
import { keyResolver, partResolver } from './reference.js';

/** Groups, and the marks on objects created only for groups, as document parts. */

const member = ['facts', 'groups'] as const;

/**
 * Groups. Their names are the names of their instances. Documents contain members and roles as relationships and
 * assignments.
 */
export const groupPart: DocumentPart<GroupEntry> = {
	title: 'group',
	member,
	scope: null,
	list: false,
	entriesIn: ({ facts }) => mapEntries(member, facts?.groups),
	async *chunks(unit) {
		const groups = (await allGroups(unit)).map(groupEntry);
		yield* chunked(groups.toSorted((left, right) => (left.name < right.name ? -1 : 1)));
	},
	async stored(unit, entries) {
		return valuesByName((await groupsNamed(unit, entries)).map(groupEntry));
	},
	toDocument: (value) => withoutDefaults(value, { made_instance: false }),
	async write(unit, entries) {
		const instanceAt = await instanceResolver(unit, entryNames(entries));
		const groups = entries.map(({ name, place, value }) => Object.assign(instanceAt(name, place), value));
		const ids = groups.map(({ id }) => id);
		await unmarkGroups(unit, ids);
		await markGroups(unit, groups);
	},
	async remove(unit, entries) {
		const ids = (await groupsNamed(unit, entries)).map(({ id }) => id);
		await unmarkGroups(unit, ids);
	},
};

async function groupsNamed(unit: ReadingUnit, entries: readonly Entry<GroupEntry>[]): Promise<readonly GroupRow[]> {
	const instances = await findNamedInstances(unit, entryNames(entries));
	const instanceIds = instances.map(({ id }) => id);
	return groupsAmong(unit, instanceIds);
}

function groupEntry({ resource, key, made_instance }: GroupRow): Entry<GroupEntry> {
	const name = instanceName(resource, key);
	return { name, place: [...member, name], value: { made_instance } };
}

const madeMember = ['facts', 'made_for_groups'] as const;

/**
 * Marks on schema objects created for groups. The marks are facts, so the exported schema does not depend on how its
 * objects were created.
 */
export const madeForGroupsPart: DocumentPart<MadeForGroupsEntry> = {
	title: 'mark for an object created for groups',
	member: madeMember,
	scope: null,
	list: true,
	entriesIn: ({ facts }) => listEntries(madeMember, facts?.made_for_groups, madeForGroupsName),
	async *chunks(unit) {
		yield sortedEntries(await objectsMadeForGroups(unit), madeForGroupsName);
	},
	async stored(unit) {
		return valuesByName(sortedEntries(await objectsMadeForGroups(unit), madeForGroupsName));
	},
	toDocument: (value) => withoutDefaults(value, { role: null, relation: null }),
	async write(unit, entries) {
		for (const object of await resolveObjects(unit, entries)) await setMadeForGroups(unit, object, true);
	},
	async remove(unit: WritingUnit, entries) {
		for (const object of await resolveObjects(unit, entries)) await setMadeForGroups(unit, object, false);
	},
};

/** Finds the given schema objects. */
async function resolveObjects(
	unit: ReadingUnit,
	entries: readonly Entry<MadeForGroupsEntry>[],
): Promise<readonly SchemaObject[]> {
	const values = entries.map(({ value }) => value);
	const names = values.map(({ resource }) => resource);
	const resourceAt = await keyResolver(unit, Resource, names);
	const roleAt = await partResolver(
		unit,
		Role,
		values.flatMap(({ resource, role }) => (role === null ? [] : [{ resource, key: role }])),
	);
	const relationAt = await partResolver(
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

function madeForGroupsName({ resource, role, relation }: MadeForGroupsEntry): string {
	return [resource, role === null ? '' : `role ${role}`, relation === null ? '' : `relation ${relation}`].join(' ');
}
