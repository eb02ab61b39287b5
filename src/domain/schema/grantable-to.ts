import { groupBy } from '../../../compiler/group-by.js';
import { setRelationKey } from '../../../compiler/user-set.js';
import { Failure } from '../../failure.js';
import { deleteRelations, insertSetRelations, type Relation, setRelationsOf } from '../../store/table/relation.js';
import { Resource } from '../../store/table/resource.js';
import { Role, rolesWithIds } from '../../store/table/role.js';
import { type Derivation, replaceDerivations, setDerivationsAround } from '../../store/table/role-derivation.js';
import { rowsWithIds } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { GrantableTo } from '../../wire/schema/grantable-to.js';
import { removeTuples } from '../facts/relationship-tuple.js';
import { pairWithParts } from '../pair-with-parts.js';

/**
 * Roles that can be assigned to sets of users: the users with a role on an instance. A hidden relation derives the
 * assigned role from the set's role, and each assignment to a set is a tuple in this relation.
 */

/** A resource role, and the roles that define the sets of users to which it can be assigned. */
export interface GrantableEdit {
	readonly role: Role;
	readonly grantable_to: readonly GrantableTo[];
}

/**
 * Replaces the sets to which these roles can be assigned, and removes their assignments to other sets. Does not record
 * the role changes. Returns the roles now assignable to sets, as ids. The caller calls `refuseUnsoundLinks` and
 * `refuseRolesOverLimit`. Throws `not_found` for a missing resource or role, and `unprocessable` for a computed role.
 */
export async function setGrantableTo(unit: WritingUnit, edits: readonly GrantableEdit[]): Promise<readonly string[]> {
	const resourceIds = [...new Set(edits.flatMap(({ role }) => role.resource_id ?? []))];
	if (resourceIds.length === 0) return [];
	const sources = await resolveSources(unit, edits);
	const stored = await setRelationsOf(unit, resourceIds).all();
	if (sources.length + stored.length === 0) return [];
	const edited = new Set(edits.map(({ role }) => `${role.resource_id}/${role.key}`));
	const wanted = new Map(sources.map((source) => [relationIdentity(source.relation), source.relation]));
	const [kept, gone] = [new Map<string, Relation>(), [] as Relation[]];
	for (const relation of stored) {
		const [role = ''] = relation.key.split(':');
		if (wanted.has(relationIdentity(relation))) kept.set(relationIdentity(relation), relation);
		else if (edited.has(`${relation.resource_id}/${role}`)) gone.push(relation);
	}
	await removeSetRelations(unit, gone);
	const missing = [...wanted].filter(([identity]) => !kept.has(identity)).map(([, relation]) => relation);
	for (const relation of await insertSetRelations(unit, missing)) kept.set(relationIdentity(relation), relation);
	const derivations = new Map<string, Map<string, Derivation>>(edits.map(({ role }) => [role.id, new Map()]));
	for (const { role, source, relation } of sources) {
		const { id = '' } = kept.get(relationIdentity(relation)) ?? {};
		const derivation = { source_role_id: source.id, relation_id: id, no_direct_roles_on_object: false };
		derivations.get(role.id)?.set(source.id, derivation);
	}
	const lists = Array.from(derivations, ([id, own]) => [id, [...own.values()]] as const);
	await replaceDerivations(unit, new Map(lists), 'sets');
	return [...new Set(sources.map(({ role }) => role.id))];
}

function relationIdentity({ resource_id, key }: Pick<Relation, 'resource_id' | 'key'>): string {
	return `${resource_id}/${key}`;
}

async function resolveSources(unit: ReadingUnit, edits: readonly GrantableEdit[]) {
	const named = edits.flatMap(({ role, grantable_to }) => grantable_to.map((set) => ({ role, set })));
	const owners = named.map(({ set }) => set.on_resource);
	const resources = await unit.findAll(Resource, owners);
	const placed = named.flatMap(({ role, set }) => {
		const resource = resources.get(set.on_resource);
		return resource === undefined ? [] : [{ role, set, resource }];
	});
	const found = await pairWithParts(unit, Role, placed, ({ set, resource }) => ({
		resource_id: resource.id,
		reference: set.role,
	}));
	return found.map(([{ role, resource }, source]) => {
		const key = setRelationKey(role.key, { type: resource.key, role: source.key });
		const relation = { key, resource_id: role.resource_id ?? '', subject_resource_id: resource.id };
		return { role, source, relation };
	});
}

/** Deletes the hidden relations in which these roles are assigned to sets, or are the set's role. */
export async function removeSetRelationsOf(unit: WritingUnit, roles: readonly Role[]): Promise<void> {
	const ids = roles.map(({ id }) => id);
	const rules = await setDerivationsAround(unit, ids);
	const setRelations = rules.map(({ relation_id }) => ({ id: relation_id }));
	await removeSetRelations(unit, setRelations);
}

async function removeSetRelations(unit: WritingUnit, relations: readonly Pick<Relation, 'id'>[]): Promise<void> {
	if (relations.length === 0) return;
	const ids = relations.map(({ id }) => id);
	await removeTuples(unit, { relation_ids: ids });
	await deleteRelations(unit, ids);
}

/**
 * Rejects the deletion of roles that are in `grantable_to` of remaining roles. Throws `conflict` with the names of the
 * remaining roles.
 */
export async function refuseRolesOfSets(unit: ReadingUnit, roles: readonly Role[]): Promise<void> {
	const ids = new Set(roles.map(({ id }) => id));
	const rules = (await setDerivationsAround(unit, [...ids])).filter(({ role_id }) => !ids.has(role_id));
	const bySource = groupBy(rules, ({ source_role_id }) => source_role_id);
	const role = roles.find(({ id }) => bySource.has(id));
	if (role === undefined) return;
	const readerIds = (bySource.get(role.id) ?? []).map(({ role_id }) => role_id);
	const readers = await rolesWithIds(unit, readerIds).all();
	const resourceIds = readers.flatMap(({ resource_id }) => resource_id ?? []);
	const owners = await rowsWithIds(unit, Resource, resourceIds);
	const names = readers.map(({ key, resource_id }) => `${owners.get(resource_id ?? '')?.key ?? ''}:${key}`);
	const message = `the role \`${role.key}\` is in \`grantable_to\` of ${names.map((name) => `\`${name}\``).join(', ')}`;
	throw new Failure('conflict', message, { role: role.key, grantable_roles: names });
}
