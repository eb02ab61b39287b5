import type { ReadingUnit } from '../../unit/reading-unit.js';
import { ActionGroup } from '../action-group.js';
import { ConditionSet } from '../condition-set.js';
import { UserInvite } from '../element/user-invite.js';
import { type EnvironmentModel, sameEnvironment } from '../environment-model.js';
import { AnyRelation, Relation } from '../relation.js';
import { RelationshipTuple } from '../relationship-tuple.js';
import { Resource, ResourceAction, ResourceAttribute } from '../resource.js';
import { ResourceInstance } from '../resource-instance.js';
import { Role, RoleDerivation, RoleParent, RolePermission } from '../role.js';
import { RoleAssignment } from '../role-assignment.js';
import { Group } from './group.js';

/** Finds unused objects that were created for groups. */

/**
 * Returns the possibly unused relations: created for groups, and without relationships. The caller must check whether
 * roles are derived through them.
 */
export async function relationsWithoutTuples(unit: ReadingUnit): Promise<readonly Relation[]> {
	return unit
		.query(Relation)
		.where('relations.made_for_groups', true)
		.whereNotExists(unit.queryStored(RelationshipTuple).whereColumn('relationship_tuples.relation_id', 'relations.id'));
}

/**
 * Returns the unused roles: created for groups, on resources without groups, and without assignments, invites,
 * permissions, derivations and `extends` entries.
 */
export async function unusedRoles(unit: ReadingUnit): Promise<readonly Role[]> {
	const groups = unit
		.query(Group)
		.join('resource_instances', 'resource_instances.id', 'groups.id')
		.whereColumn('resource_instances.environment_id', 'groups.environment_id')
		.whereColumn('resource_instances.resource_id', 'roles.resource_id');
	const query = unit.query(Role).where('roles.made_for_groups', true).whereNotExists(groups);
	query
		.whereNotExists(unit.queryStored(RoleAssignment).whereColumn('role_assignments.role_id', 'roles.id'))
		.whereNotExists(unit.query(UserInvite).whereColumn('user_invites.role_id', 'roles.id'))
		.whereNotExists(unit.query(RolePermission).whereColumn('role_permissions.role_id', 'roles.id'));
	for (const column of ['role_id', 'source_role_id']) {
		query.whereNotExists(unit.query(RoleDerivation).whereColumn(`role_derivations.${column}`, 'roles.id'));
	}
	for (const column of ['role_id', 'parent_id']) {
		query.whereNotExists(unit.query(RoleParent).whereColumn(`role_parents.${column}`, 'roles.id'));
	}
	return query;
}

/** Returns the unused resources: created for groups, and without instances, roles, relations or other parts. */
export async function unusedResources(unit: ReadingUnit): Promise<readonly Resource[]> {
	const query = unit.query(Resource).where('resources.made_for_groups', true);
	for (const part of [ResourceInstance, Role, Relation, ResourceAction, ResourceAttribute, ActionGroup, ConditionSet]) {
		query.whereNotExists(
			unit.query<EnvironmentModel>(part).whereColumn(`${part.tableName}.resource_id`, 'resources.id'),
		);
	}
	return query.whereNotExists(unit.query(AnyRelation).whereColumn('relations.subject_resource_id', 'resources.id'));
}

/** Keys of a schema object: a resource, or a resource's role or relation. */
export interface ObjectKeys {
	readonly resource: string;
	readonly role: string | null;
	readonly relation: string | null;
}

/** Returns all schema objects created for groups, in no particular order. */
export async function objectsMadeForGroups(unit: ReadingUnit): Promise<readonly ObjectKeys[]> {
	const resources = await unit.query(Resource).where('resources.made_for_groups', true);
	const roles = await unit
		.query(Role)
		.join('resources', sameEnvironment('roles', 'resource_id', 'resources'))
		.where('roles.made_for_groups', true)
		.select('resources.key as resource', 'roles.key as role')
		.castTo<{ resource: string; role: string }[]>();
	const relations = await unit
		.query(Relation)
		.join('resources', sameEnvironment('relations', 'resource_id', 'resources'))
		.where('relations.made_for_groups', true)
		.select('resources.key as resource', 'relations.key as relation')
		.castTo<{ resource: string; relation: string }[]>();
	return [
		...resources.map(({ key }) => ({ resource: key, role: null, relation: null })),
		...roles.map(({ resource, role }) => ({ resource, role, relation: null })),
		...relations.map(({ resource, relation }) => ({ resource, role: null, relation })),
	];
}
