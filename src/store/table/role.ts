import type { RoleExpression } from '../../../compiler/role-expression.js';
import { type AttributeFilter, whereAttributes, whereSearched } from '../query/filter.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { EnvironmentModel, KeyedModel, sameEnvironment } from './environment-model.js';
import { ResourceAction } from './resource.js';

/** Limits a query to tenant roles, which belong to no resource. */
export const tenantRolesOnly = { resource_id: null } as const;

/** A resource role, held on instances, or a tenant role, held in tenants. */
export class Role extends KeyedModel {
	static override readonly tableName = 'roles';
	static override readonly jsonAttributes = ['attributes', 'computed', 'grant_conditions'];
	static readonly kind = 'role';
	static readonly title = 'Role';

	declare name: string;
	declare description: string | null;
	declare attributes: Record<string, unknown> | null;
	/** The role's resource; `null` for a tenant role. */
	declare resource_id: string | null;
	/** Id of the role's derivation block; `null` if the role never had a block. */
	declare granted_to_id: string | null;
	/** True if a direct role on the object disables all derivations of this role. */
	declare no_direct_roles_on_object: boolean;
	/** Condition set keys (type `grant`) under which the role may be assigned. */
	declare grant_conditions: readonly string[];
	/** True if the groups API created the role. The groups API deletes it when no group needs it. */
	declare made_for_groups: boolean;
	/** True if the role can be assigned to everyone. Always false for a tenant role. */
	declare public: boolean;
	/** The expression of a computed role; `null` for any other role. */
	declare computed: Exclude<RoleExpression, string> | null;
}

/** Derives `role_id` on the object from `source_role_id` on the subject, through a relation between them. */
export class RoleDerivation extends EnvironmentModel {
	static override readonly tableName = 'role_derivations';
	static readonly kind = 'role';
	static readonly title = 'RoleDerivation';

	declare role_id: string;
	declare source_role_id: string;
	declare relation_id: string;
	/** True if a direct role on the object disables this derivation. */
	declare no_direct_roles_on_object: boolean;
}

/** Grant of an action to a role. `position` stores the order of the grants. */
export class RolePermission extends EnvironmentModel {
	static override readonly tableName = 'role_permissions';
	static readonly kind = 'role';
	static readonly title = 'RolePermission';

	declare role_id: string;
	declare action_id: string;
	declare position: number;

	static override get idColumn(): string[] {
		return ['environment_id', 'role_id', 'action_id'];
	}
}

/** An `extends` entry: the role inherits everything from its parent. */
export class RoleParent extends EnvironmentModel {
	static override readonly tableName = 'role_parents';
	static readonly kind = 'role';
	static readonly title = 'RoleParent';

	declare role_id: string;
	declare parent_id: string;
	declare position: number;

	static override get idColumn(): string[] {
		return ['environment_id', 'role_id', 'parent_id'];
	}
}

export interface RoleFilter {
	readonly search?: string | undefined;
	readonly attribute_filters: readonly AttributeFilter[];
}

/** Returns the environment's tenant roles matching the filter, oldest first. */
export function rolesBy(unit: ReadingUnit, filter: RoleFilter): RowQuery<Role> {
	const query = unit.query(Role).where('roles.resource_id', null).orderBy('roles.id');
	whereSearched(query, ['roles.key', 'roles.name'], filter.search);
	return rowQuery(whereAttributes(query, 'roles.attributes', filter.attribute_filters));
}

/** Returns these resources' roles, oldest first. */
export function rolesOfResources(unit: ReadingUnit, resourceIds: readonly string[]): RowQuery<Role> {
	return rowQuery(unit.query(Role).whereRaw('roles.resource_id = any(?::uuid[])', [resourceIds]).orderBy('roles.id'));
}

/** Returns all computed roles, oldest first. */
export function computedRoles(unit: ReadingUnit): RowQuery<Role> {
	return rowQuery(unit.query(Role).whereNotNull('roles.computed').orderBy('roles.id'));
}

/** Returns the roles that may be assigned conditionally, oldest first. */
export async function rolesWithConditions(unit: ReadingUnit): Promise<readonly Role[]> {
	return unit.query(Role).whereRaw(`roles.grant_conditions <> '[]'::jsonb`).orderBy('roles.id');
}

/** Returns the roles with these ids, oldest first. */
export function rolesWithIds(unit: ReadingUnit, ids: readonly string[]): RowQuery<Role> {
	return rowQuery(unit.query(Role).whereRaw('roles.id = any(?::uuid[])', [ids]).orderBy('roles.id'));
}

/** Returns the roles with these keys, oldest first: a resource's roles, or tenant roles if `resourceId` is null. */
export function rolesKeyed(unit: ReadingUnit, resourceId: string | null, keys: readonly string[]): RowQuery<Role> {
	const query = unit.query(Role).where('roles.resource_id', resourceId).orderBy('roles.id');
	return rowQuery(query.whereRaw('roles.key = any(?::text[])', [keys]));
}

/** A grant, with the resource key and action key. */
export interface GrantRow {
	readonly role_id: string;
	readonly action_id: string;
	readonly resource: string;
	readonly action: string;
}

/** Returns these roles' grants (default: all roles), in their stored order. */
export async function grantRows(unit: ReadingUnit, roleIds?: readonly string[]): Promise<readonly GrantRow[]> {
	const query = unit
		.query(RolePermission)
		.join('resource_actions', sameEnvironment('role_permissions', 'action_id', 'resource_actions'))
		.join('resources', sameEnvironment('resource_actions', 'resource_id', 'resources'))
		.select('role_permissions.role_id', 'role_permissions.action_id')
		.select('resources.key as resource', 'resource_actions.key as action')
		.orderBy(['role_permissions.role_id', 'role_permissions.position']);
	if (roleIds !== undefined) query.whereRaw('role_permissions.role_id = any(?::uuid[])', [roleIds]);
	return query.castTo<GrantRow[]>();
}

/** An `extends` entry with the parent's key. */
export interface ParentRow {
	readonly role_id: string;
	readonly parent_id: string;
	readonly parent: string;
}

/** Returns these roles' parents (default: all roles), in their stored order. */
export async function parentRows(unit: ReadingUnit, roleIds?: readonly string[]): Promise<readonly ParentRow[]> {
	const query = unit
		.query(RoleParent)
		.join('roles', sameEnvironment('role_parents', 'parent_id', 'roles'))
		.select('role_parents.role_id', 'role_parents.parent_id', 'roles.key as parent')
		.orderBy(['role_parents.role_id', 'role_parents.position']);
	if (roleIds !== undefined) query.whereRaw('role_parents.role_id = any(?::uuid[])', [roleIds]);
	return query.castTo<ParentRow[]>();
}

/** An action with its resource key. */
export interface ActionRow {
	readonly id: string;
	readonly key: string;
	readonly resource: string;
}

/** Returns the actions with these key pairs, or with these ids. */
export async function actionsNamed(
	unit: ReadingUnit,
	pairs: readonly { readonly resource: string; readonly action: string }[],
	ids: readonly string[],
): Promise<readonly ActionRow[]> {
	return unit
		.query(ResourceAction)
		.join('resources', sameEnvironment('resource_actions', 'resource_id', 'resources'))
		.select('resource_actions.id', 'resource_actions.key', 'resources.key as resource')
		.where((either) => {
			either
				.whereRaw('(resources.key, resource_actions.key) in (select * from unnest(?::text[], ?::text[]))', [
					pairs.map((pair) => pair.resource),
					pairs.map((pair) => pair.action),
				])
				.orWhereRaw('resource_actions.id = any(?::uuid[])', [ids]);
		})
		.castTo<ActionRow[]>();
}

/** Ids of actions or parent roles, in the order to store, keyed by role id. */
export type LinkedIds = ReadonlyMap<string, readonly string[]>;

/** Replaces these roles' grants. */
export async function replaceGrants(unit: WritingUnit, actions: LinkedIds): Promise<void> {
	await unit
		.query(RolePermission)
		.whereRaw('role_permissions.role_id = any(?::uuid[])', [[...actions.keys()]])
		.delete();
	const rows = [...actions].flatMap(([role_id, ids]) =>
		ids.map((action_id, position) => ({ role_id, action_id, position })),
	);
	await unit.insert(RolePermission, rows, (row) => String(row.action_id));
}

/** Replaces these roles' parents. */
export async function replaceParents(unit: WritingUnit, parents: LinkedIds): Promise<void> {
	await unit
		.query(RoleParent)
		.whereRaw('role_parents.role_id = any(?::uuid[])', [[...parents.keys()]])
		.delete();
	const rows = [...parents].flatMap(([role_id, ids]) =>
		ids.map((parent_id, position) => ({ role_id, parent_id, position })),
	);
	await unit.insert(RoleParent, rows, (row) => String(row.parent_id));
}

/** Returns the ids of roles extending at least one role in `roleIds`. */
export async function childRoleIds(unit: ReadingUnit, roleIds: readonly string[]): Promise<readonly string[]> {
	const rows = await unit.query(RoleParent).whereRaw('role_parents.parent_id = any(?::uuid[])', [roleIds]);
	return rows.map((row) => row.role_id);
}

/**
 * Deletes roles with their grants, and with all `extends` entries and derivations that refer to them. Their assignments
 * must already be deleted. Does not write to the change log.
 */
export async function deleteRoles(unit: WritingUnit, roleIds: readonly string[]): Promise<void> {
	await unit.query(Role).whereRaw('roles.id = any(?::uuid[])', [roleIds]).delete();
}
