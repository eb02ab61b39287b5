import type { QueryBuilder } from 'objection';
import { holdsNow } from '../../query/holds-now.js';
import { type RowQuery, rowQuery } from '../../query/row-query.js';
import type { ReadingUnit } from '../../unit/reading-unit.js';
import { sameEnvironment } from '../environment-model.js';
import { RelationshipTuple } from '../relationship-tuple.js';
import { type GroupRow, groupQuery } from './group.js';

/**
 * Roles that group members derive on instances. These roles are not stored. They are computed from relationships and
 * derivations, even if other APIs created these objects.
 */

/** Key of the role held by group members on the group's instance. */
export const memberKey = 'member';

/**
 * Key of relations through which the parent group is a member of the child group (docs/develop/groups.md). A number may
 * follow this key. Through all other relations, the child group is a member of the parent group.
 */
export const joinsChildKey = 'joins_child';
const joinsChildForm = `^${joinsChildKey}(_[0-9]+)?$`;

/** Returns true if a relation with this key makes the parent group's members also members of its child group. */
export function joinsChild(key: string): boolean {
	return new RegExp(joinsChildForm).test(key);
}

/** A role that group members derive on an instance, with keys and ids. */
export interface GroupRoleRow {
	readonly group_id: string;
	readonly role_id: string;
	readonly role: string;
	readonly resource_id: string;
	readonly resource: string;
	readonly resource_instance_id: string;
	/** The instance's key, without its resource. */
	readonly resource_instance: string;
	readonly tenant_id: string;
	readonly tenant: string;
}

/** Filter for group roles. A role matches if each list contains the role's value. Absent lists do not filter. */
export interface GroupRoleFilter {
	readonly group_ids?: readonly string[];
	readonly resource_instance_ids?: readonly string[];
	readonly role_ids?: readonly string[];
	/** True: only relations whose key passes `joinsChild`; false: only all other relations. */
	readonly joins_child?: boolean;
	/** Only relationships that last at least until this time. `null`: only relationships that do not expire. */
	readonly until?: Date | null;
}

/** Returns the roles derived directly from these groups, and not through other groups, oldest instance first. */
export function groupRolesBy(unit: ReadingUnit, filter: GroupRoleFilter): RowQuery<GroupRoleRow> {
	const columns = {
		group_id: 'relationship_tuples.subject_id',
		role_id: 'roles.id',
		role: 'roles.key',
		resource_id: 'objects.resource_id',
		resource: 'object_types.key',
		resource_instance_id: 'relationship_tuples.object_id',
		resource_instance: 'objects.key',
		tenant_id: 'relationship_tuples.tenant_id',
		tenant: 'tenants.key',
	};
	return rowQuery(
		granting(unit, filter)
			.join('roles', sameEnvironment('role_derivations', 'role_id', 'roles'))
			.join('resource_instances as objects', sameEnvironment('relationship_tuples', 'object_id', 'objects'))
			.join('resources as object_types', sameEnvironment('objects', 'resource_id', 'object_types'))
			.join('tenants', sameEnvironment('relationship_tuples', 'tenant_id', 'tenants'))
			.select(Object.entries(columns).map(([name, column]) => `${column} as ${name}`))
			// Several relationships may derive the same role on the same instance.
			.groupBy(Object.values(columns))
			.orderBy(['relationship_tuples.object_id', 'roles.id'])
			.castTo<GroupRoleRow[]>(),
	);
}

/** Returns the relationships through which group members derive a role on the object. */
function granting(unit: ReadingUnit, filter: GroupRoleFilter): QueryBuilder<RelationshipTuple, RelationshipTuple[]> {
	const query = unit
		.query(RelationshipTuple)
		.join('role_derivations', (join) => {
			join
				.on('relationship_tuples.environment_id', 'role_derivations.environment_id')
				.andOn('relationship_tuples.relation_id', 'role_derivations.relation_id');
		})
		// A derivation's source is a role on the relation's subject resource, which is the group's resource.
		.join('roles as sources', sameEnvironment('role_derivations', 'source_role_id', 'sources'))
		.where('sources.key', memberKey)
		// Conditional relationships give groups no roles.
		.whereNull('relationship_tuples.condition_set');
	const { group_ids, resource_instance_ids, role_ids, joins_child, until } = filter;
	if (until === null) query.whereNull('relationship_tuples.expires_at');
	if (until) query.whereRaw("coalesce(relationship_tuples.expires_at, 'infinity') >= ?", [until]);
	if (joins_child !== undefined) {
		query
			.join('relations', sameEnvironment('relationship_tuples', 'relation_id', 'relations'))
			.whereRaw('(relations.key ~ ?) = ?', [joinsChildForm, joins_child]);
	}
	if (group_ids !== undefined) query.whereRaw('relationship_tuples.subject_id = any(?::uuid[])', [group_ids]);
	if (role_ids !== undefined) query.whereRaw('role_derivations.role_id = any(?::uuid[])', [role_ids]);
	if (resource_instance_ids !== undefined) {
		query.whereRaw('relationship_tuples.object_id = any(?::uuid[])', [resource_instance_ids]);
	}
	return query;
}

/** Nesting side: the groups assigned to a group, or the groups to which the group is assigned. */
export type NestingSide = 'children' | 'parents';

/**
 * Returns the groups on this side of a group, oldest instance first. Finds relationships from parent to child,
 * and from child to parent.
 */
export function nestedGroups(unit: ReadingUnit, side: NestingSide, groupId: string): RowQuery<GroupRow> {
	const within = nestedOver(unit, { group_ids: [groupId], joins_child: side === 'children' }, 'object_id');
	const around = nestedOver(unit, { resource_instance_ids: [groupId], joins_child: side === 'parents' }, 'subject_id');
	return rowQuery(groupQuery(unit, {}).whereIn('resource_instances.id', around.union(within)).castTo<GroupRow[]>());
}

function nestedOver(unit: ReadingUnit, filter: GroupRoleFilter, other: 'subject_id' | 'object_id') {
	return granting(unit, filter)
		.join('roles', sameEnvironment('role_derivations', 'role_id', 'roles'))
		.where('roles.key', memberKey)
		.select(`relationship_tuples.${other}`);
}

/** A value found for a group: the id of a member, or a role in the form `<resource key>:<instance key>#<role key>`. */
interface GroupValue {
	readonly group_id: string;
	readonly value: string;
}

/**
 * Returns the ids of the users with the role `member`, without a condition, on each group, at most `most` per group.
 */
export async function groupMembers(
	unit: ReadingUnit,
	groupIds: readonly string[],
	most: number,
): Promise<readonly GroupValue[]> {
	const { rows } = await unit.raw<GroupValue>(
		`select wanted.id as group_id, found.value from unnest(:ids::uuid[]) as wanted (id)
		cross join lateral (
			select role_assignments.user_id as value from role_assignments
			join roles on roles.environment_id = role_assignments.environment_id and roles.id = role_assignments.role_id
			where role_assignments.environment_id = :environment_id
				and role_assignments.resource_instance_id = wanted.id and roles.key = :member
				and role_assignments.condition_set is null and ${holdsNow('role_assignments')}
			limit :most
		) as found`,
		{ ids: [...groupIds], member: memberKey, most },
	);
	return rows;
}

/** Returns the instance roles derived by each group's members, at most `most` per group. */
export async function groupRoleNames(
	unit: ReadingUnit,
	groupIds: readonly string[],
	most: number,
): Promise<readonly GroupValue[]> {
	const { rows } = await unit.raw<GroupValue>(
		`select wanted.id as group_id, found.value from unnest(:ids::uuid[]) as wanted (id)
		cross join lateral (
			select distinct resources.key || ':' || objects.key || '#' || roles.key as value from relationship_tuples
			join role_derivations on role_derivations.environment_id = relationship_tuples.environment_id
				and role_derivations.relation_id = relationship_tuples.relation_id
			join roles as sources on sources.environment_id = relationship_tuples.environment_id
				and sources.id = role_derivations.source_role_id and sources.key = :member
			join roles on roles.environment_id = relationship_tuples.environment_id
				and roles.id = role_derivations.role_id
			join resource_instances as objects on objects.environment_id = relationship_tuples.environment_id
				and objects.id = relationship_tuples.object_id
			join resources on resources.environment_id = relationship_tuples.environment_id
				and resources.id = objects.resource_id
			where relationship_tuples.environment_id = :environment_id and relationship_tuples.subject_id = wanted.id
				and relationship_tuples.condition_set is null and ${holdsNow('relationship_tuples')}
			limit :most
		) as found`,
		{ ids: [...groupIds], member: memberKey, most },
	);
	return rows;
}
