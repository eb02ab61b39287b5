import { groupBy } from '../../../compiler/group-by.js';
import { Failure } from '../../failure.js';
import type { GroupRow } from '../../store/table/group/group.js';
import { groupRolesBy, joinsChild, joinsChildKey } from '../../store/table/group/group-role.js';
import { type Relation, relationsBetween } from '../../store/table/relation.js';
import { type TupleFilter, type TupleRow, tuplesBy } from '../../store/table/relationship-tuple.js';
import { Resource } from '../../store/table/resource.js';
import { type InstanceRow, instancesNamed } from '../../store/table/resource-instance.js';
import { Role, type RoleDerivation } from '../../store/table/role.js';
import { derivationsThrough } from '../../store/table/role-derivation.js';
import { Tenant } from '../../store/table/tenant.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceName } from '../../wire/common.js';
import type { GroupRoleCreate } from '../../wire/schema/group.js';
import { asDate } from '../as-date.js';
import { refuseUnknownInstance, requireTenant } from '../facts/named-instance.js';
import { endTuples, relateMany } from '../facts/relationship-tuple.js';
import { grantImplicitly } from '../schema/derivation.js';
import { createGroupRelation, ensureMemberRole, findMemberRole, removeUnneeded } from './made-for-groups.js';

/**
 * Group roles on instances. A group has a role on an instance through a relationship between the two. The relation
 * derives only this role from the group's role `member`, so a relation never gives two roles together.
 */

/** A role on an instance. */
export interface GroupRole {
	readonly role: Role;
	readonly object: InstanceRow;
	/** Expiry as ISO 8601; absent if there is none. */
	readonly expires_at?: string | undefined;
}

/**
 * Returns the role and instance in a body. Throws `not_found`, `invalid` for an instance with a different
 * resource, and `mismatched_tenants` unless the group and the instance are both in the tenant.
 */
export async function findGroupRole(unit: ReadingUnit, group: GroupRow, body: GroupRoleCreate): Promise<GroupRole> {
	const tenant = await unit.find(Tenant, body.tenant);
	const resource = await unit.find(Resource, body.resource);
	const object = await findObject(unit, resource, body.resource_instance);
	const role = await unit.find(Role, body.role, { resource_id: resource.id });
	requireTenant(group, tenant);
	requireTenant(object, tenant);
	return { role, object };
}

/** Returns the referenced instance. A reference that is only a key refers to an instance of `resource`. */
async function findObject(unit: ReadingUnit, resource: Resource, reference: string): Promise<InstanceRow> {
	const rows = (await instancesNamed(unit, [reference])).get(reference) ?? [];
	const own = rows.find(({ resource_id }) => resource_id === resource.id);
	if (own !== undefined) return own;
	const [other] = rows;
	if (other === undefined) return refuseUnknownInstance(reference);
	throw new Failure(
		'invalid',
		`the resource instance \`${reference}\` belongs to the resource \`${other.resource}\`, not to \`${resource.key}\``,
	);
}

/**
 * Assigns a role on an instance to all present and future group members. Returns false if the group already has the
 * role until the same or a later time. With `parent_joins_child`, the instance is a group listed as a child, the role
 * is `member` on it, and the relation's key marks the direction. Throws `invalid` if a group would become its own
 * member.
 */
export async function giveGroupRole(
	unit: WritingUnit,
	group: GroupRow,
	wanted: GroupRole,
	parent_joins_child = false,
): Promise<boolean> {
	const { role, object, expires_at } = wanted;
	const groups = await unit.find(Resource, group.resource_id);
	const member = await ensureMemberRole(unit, groups);
	if (role.id === member.id && object.id === group.id) throw inItself(group);
	if (await hasRole(unit, group, wanted, parent_joins_child)) return false;
	const key = parent_joins_child ? joinsChildKey : `${role.key}_${groups.key}`;
	const relation =
		(await fittingRelation(unit, role, member, parent_joins_child)) ??
		(await newRelation(unit, groups, role, member, key));
	await relateMany(unit, [
		{ subject: group.id, relation: relation.id, object: object.id, tenant: undefined, expires_at },
	]);
	return true;
}

function inItself(group: GroupRow): Failure {
	const name = instanceName(group.resource, group.key);
	return new Failure('invalid', `the group \`${name}\` cannot be a member of itself`);
}

async function hasRole(
	unit: ReadingUnit,
	group: GroupRow,
	{ role, object, expires_at }: GroupRole,
	joins_child: boolean,
): Promise<boolean> {
	const given = { group_ids: [group.id], role_ids: [role.id], resource_instance_ids: [object.id], joins_child };
	return (await groupRolesBy(unit, { ...given, until: asDate(expires_at) }).count()) > 0;
}

/** Returns a relation that derives only this role from `member`, whether it was created for groups or not. */
async function fittingRelation(
	unit: ReadingUnit,
	role: Role,
	member: Role,
	parentJoinsChild: boolean,
): Promise<Relation | undefined> {
	const between = await relationsBetween(unit, member.resource_id ?? '', role.resource_id ?? '').all();
	const relations = between.filter(({ key }) => joinsChild(key) === parentJoinsChild);
	const ids = relations.map(({ id }) => id);
	const relationRules = await rulesThrough(unit, ids);
	return relations.find(({ id }) => {
		const [rule, ...more] = relationRules(id);
		return rule !== undefined && more.length === 0 && derives(rule, role, member) && !rule.no_direct_roles_on_object;
	});
}

/** Returns a lookup for the derivations through each relation. */
async function rulesThrough(unit: ReadingUnit, relationIds: readonly string[]) {
	const rules = groupBy(await derivationsThrough(unit, relationIds), ({ relation_id }) => relation_id);
	return (id: string): readonly RoleDerivation[] => rules.get(id) ?? [];
}

function derives(rule: RoleDerivation, role: Role, member: Role): boolean {
	return rule.role_id === role.id && rule.source_role_id === member.id;
}

async function newRelation(
	unit: WritingUnit,
	groups: Resource,
	role: Role,
	member: Role,
	key: string,
): Promise<Relation> {
	const resource = await unit.find(Resource, role.resource_id ?? '');
	const relation = await createGroupRelation(unit, groups, resource, key);
	await grantImplicitly(unit, role, {
		role: member.id,
		on_resource: groups.id,
		linked_by_relation: relation.id,
		when: { no_direct_roles_on_object: false },
	});
	return relation;
}

/**
 * Removes a role on an instance from a group, and the objects created for the role if no group needs them. Returns true
 * if the group had the role. `appliesTo` selects, by key, the relations to examine. Throws `invalid` if a relationship
 * grants more than this role, because the groups API did not create this relationship.
 */
export async function takeGroupRole(
	unit: WritingUnit,
	group: GroupRow,
	{ role, object }: GroupRole,
	appliesTo: (relation: string) => boolean = () => true,
): Promise<boolean> {
	const member = await findMemberRole(unit, group.resource_id);
	if (member === undefined) return false;
	const [tuples, relationRules] = await tuplesWithRules(unit, { subject_ids: [group.id], object_ids: [object.id] });
	const giving = tuples.filter(
		({ relation, relation_id, condition_set }) =>
			condition_set === null &&
			appliesTo(relation) &&
			relationRules(relation_id).some((rule) => derives(rule, role, member)),
	);
	const broad = giving.find(({ relation_id }) => relationRules(relation_id).length > 1);
	if (broad !== undefined) throw givesMore(broad, role);
	if (giving.length === 0) return false;
	await endTuples(unit, giving);
	await removeUnneeded(unit);
	return true;
}

async function tuplesWithRules(unit: ReadingUnit, filter: TupleFilter) {
	const tuples = await tuplesBy(unit, { ...filter, hidden: true }).all();
	const relationIds = tuples.map(({ relation_id }) => relation_id);
	const relationRules = await rulesThrough(unit, relationIds);
	return [tuples, relationRules] as const;
}

function givesMore({ subject, relation, object }: TupleRow, role: Role): Failure {
	return new Failure(
		'invalid',
		`\`${subject}\` has the role \`${role.key}\` through its relationship \`${relation}\` to \`${object}\`, which also ` +
			'grants other roles: delete the relationship or the derivation instead',
	);
}

/**
 * Removes all roles from a group, and all groups nested in it. Deletes every relationship that assigns exactly one role
 * to group members. `member` is the group's member role.
 */
export async function removeRolesAround(unit: WritingUnit, group: GroupRow, member: Role): Promise<void> {
	const [tuples, relationRules] = await tuplesWithRules(unit, { instance_ids: [group.id] });
	await endTuples(
		unit,
		tuples.filter(({ subject_id, relation_id }) => {
			const [rule, ...more] = relationRules(relation_id);
			if (rule === undefined || more.length > 0) return false;
			return subject_id === group.id ? rule.source_role_id === member.id : rule.role_id === member.id;
		}),
	);
}
