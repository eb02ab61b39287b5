import { memberKey } from '../../store/table/group/group-role.js';
import { relationsWithoutTuples, unusedResources, unusedRoles } from '../../store/table/group/made-for-groups.js';
import { type Relation, relationsBy } from '../../store/table/relation.js';
import { Resource } from '../../store/table/resource.js';
import { Role, rolesKeyed, rolesWithIds } from '../../store/table/role.js';
import { derivationsThrough } from '../../store/table/role-derivation.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { Key, maxKeyLength } from '../../wire/common.js';
import { computedFrom } from '../schema/computed-role.js';
import { setsNaming } from '../schema/named-role.js';
import { isRead } from '../schema/related-resource.js';
import { createRelation, removeRelations, replaceRelation } from '../schema/relation.js';
import { createResource, removeWithParts } from '../schema/resource.js';
import { createRole, removeRoles } from '../schema/role.js';
import { recordRoleChanges } from '../schema/role-record.js';

/**
 * Schema objects for groups. Missing objects are created with a marker, and deleted when no group needs them. Existing
 * objects are used too, but never deleted.
 */

/** Returns the resource with this key or id. Creates the resource and its role `member` if they are missing. */
export async function ensureGroupResource(unit: WritingUnit, reference: string): Promise<Resource> {
	const existing = (await unit.findMany(Resource, [reference])).get(reference);
	const resource = existing ?? (await makeResource(unit, reference));
	await ensureMemberRole(unit, resource);
	return resource;
}

async function makeResource(unit: WritingUnit, key: string): Promise<Resource> {
	const resource = await createResource(unit, { key, name: key, actions: {} });
	await setMadeForGroups(unit, { resource }, true);
	return resource;
}

/** Returns the member role for a resource's groups; `undefined` if it was deleted. */
export async function findMemberRole(unit: ReadingUnit, resourceId: string): Promise<Role | undefined> {
	const [role] = await rolesKeyed(unit, resourceId, [memberKey]).all();
	return role;
}

/** Like `findMemberRole`, but creates a missing role. */
export async function ensureMemberRole(unit: WritingUnit, resource: Resource): Promise<Role> {
	const existing = await findMemberRole(unit, resource.id);
	if (existing !== undefined) return existing;
	const role = await createRole(unit, { key: memberKey, name: memberKey }, resource);
	await setMadeForGroups(unit, { resource, role }, true);
	return role;
}

/**
 * Creates a relation from a resource's groups to instances of a second resource. Its key is `wanted`, or a similar key
 * if `wanted` is taken.
 */
export async function createGroupRelation(
	unit: WritingUnit,
	groups: Resource,
	resource: Resource,
	wanted: string,
): Promise<Relation> {
	const taken = new Set((await relationsBy(unit, [resource.id]).all()).map(({ key }) => key));
	const key = freeKey(wanted, taken);
	const body = { key, name: key, description: undefined, subject_resource: groups.id };
	const relation = await createRelation(unit, resource, body);
	await setMadeForGroups(unit, { resource, relation }, true);
	return relation;
}

/** Returns an unused key: the wanted key, with a number appended if it is in use. Shortens a long key. */
function freeKey(wanted: string, taken: ReadonlySet<string>): string {
	for (let number = 1; ; number += 1) {
		const ending = number === 1 ? '' : `_${number}`;
		const key = `${wanted.slice(0, maxKeyLength - ending.length)}${ending}`;
		// Two joined keys can form a reserved name.
		if (!taken.has(key) && Key.safeParse(key).success) return key;
	}
}

/** A resource, or a role or relation of a resource. */
export interface SchemaObject {
	readonly resource: Resource;
	readonly role?: Role | undefined;
	readonly relation?: Relation | undefined;
}

/** Sets whether an object was made for groups, and records any change. */
export async function setMadeForGroups(unit: WritingUnit, object: SchemaObject, made: boolean): Promise<void> {
	const columns = { made_for_groups: made };
	const { resource, role, relation } = object;
	if (relation !== undefined) {
		const { name, description, subject_resource_id } = relation;
		const subject = await unit.find(Resource, subject_resource_id);
		await replaceRelation(unit, resource, relation, subject, { name, description, ...columns });
	} else if (role === undefined) {
		await unit.update(Resource, resource, columns, resource.key);
	} else if (role.made_for_groups !== made) {
		await recordRoleChanges(unit, [role], async () => {
			await unit.change(Role, role, columns);
			return undefined;
		});
	}
}

/**
 * Deletes objects made for groups that no group needs: relations without relationships, unless they have other
 * derivations; unused `member` roles, unless a user set or computed role names them; and unused resources, unless a
 * condition set reads their instances.
 */
export async function removeUnneeded(unit: WritingUnit): Promise<void> {
	const relations = await relationsWithoutTuples(unit);
	const needed = await derivingMore(unit, relations);
	const unneeded = relations.filter(({ id }) => !needed.has(id));
	await removeRelations(unit, unneeded);
	const roles = await unusedRoles(unit);
	const naming = await setsNaming(unit, roles);
	const readers = await computedFrom(unit, roles);
	const unused = roles.filter(({ id }) => !naming.has(id) && !readers.has(id));
	await removeRoles(unit, unused);
	for (const resource of await unusedResources(unit)) {
		if (!(await isRead(unit, resource))) await removeWithParts(unit, resource);
	}
}

/**
 * Returns the ids of the relations with another use: a second derivation, or a derivation from a role other than
 * `member`.
 */
async function derivingMore(unit: ReadingUnit, relations: readonly Relation[]): Promise<ReadonlySet<string>> {
	if (relations.length === 0) return new Set();
	const relationIds = relations.map(({ id }) => id);
	const rules = await derivationsThrough(unit, relationIds);
	const sourceRoleIds = rules.map(({ source_role_id }) => source_role_id);
	const sources = await rolesWithIds(unit, sourceRoleIds).all();
	const members = new Set(sources.filter(({ key }) => key === memberKey).map(({ id }) => id));
	const seen = new Set<string>();
	const more = new Set<string>();
	for (const { relation_id, source_role_id } of rules) {
		if (seen.has(relation_id) || !members.has(source_role_id)) more.add(relation_id);
		seen.add(relation_id);
	}
	return more;
}
