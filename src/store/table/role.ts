import type { QueryBuilder } from 'objection';
import { type AttributeFilter, whereAttributes, whereSearched } from '../filter.js';
import type { ReadingUnit, WritingUnit } from '../unit.js';
import { EnvironmentModel, KeyedModel, sameEnvironment } from './environment-model.js';
import { ResourceAction } from './resource.js';

/** What tells the roles held in tenants from those held on resource instances. */
export const ofTenants = { resource_id: null } as const;

/** A role: of a resource, held on its instances, or of none, held in tenants. */
export class Role extends KeyedModel {
	static override readonly tableName = 'roles';
	static override readonly jsonAttributes = ['attributes'];
	static readonly kind = 'role';
	static readonly title = 'Role';

	declare name: string;
	declare description: string | null;
	declare attributes: Record<string, unknown> | null;
	/** The resource whose role it is; `null` for a tenant role. */
	declare resource_id: string | null;
	/** The id of its derivation block; `null` where it never had one. */
	declare granted_to_id: string | null;
	/** Whether a direct role on the object turns every derivation of this role off. */
	declare no_direct_roles_on_object: boolean;
}

/** Derives `role_id` on the object from `source_role_id` on the subject of a relation between them. */
export class RoleDerivation extends EnvironmentModel {
	static override readonly tableName = 'role_derivations';
	static readonly kind = 'role';
	static readonly title = 'RoleDerivation';

	declare role_id: string;
	declare source_role_id: string;
	declare relation_id: string;
	/** Whether a direct role on the object turns this derivation off. */
	declare no_direct_roles_on_object: boolean;
}

/** A grant of one action to one role. `position` keeps the order they were given in. */
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

/** One `extends` entry: the role also has everything its parent has. */
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

/** What narrows a list of roles. */
export interface RoleFilter {
	readonly search?: string | undefined;
	readonly attribute_filters: readonly AttributeFilter[];
}

/** The environment's tenant roles that pass the filter, oldest first. */
export function rolesBy(unit: ReadingUnit, filter: RoleFilter): QueryBuilder<Role, Role[]> {
	const query = unit.query(Role).where('roles.resource_id', null).orderBy('roles.id');
	whereSearched(query, ['roles.key', 'roles.name'], filter.search);
	return whereAttributes(query, 'roles.attributes', filter.attribute_filters);
}

/** The roles of these resources, oldest first. */
export function rolesOfResources(unit: ReadingUnit, resourceIds: readonly string[]): QueryBuilder<Role, Role[]> {
	return unit.query(Role).whereRaw('roles.resource_id = any(?::uuid[])', [resourceIds]).orderBy('roles.id');
}

/** A grant, by the keys people write it with. */
export interface GrantRow {
	readonly role_id: string;
	readonly action_id: string;
	readonly resource: string;
	readonly action: string;
}

/** The grants of these roles (of all, when not given), in the order they were made. */
export async function grantsOf(unit: ReadingUnit, roleIds?: readonly string[]): Promise<readonly GrantRow[]> {
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

/** An `extends` entry by key. */
export interface ParentRow {
	readonly role_id: string;
	readonly parent_id: string;
	readonly parent: string;
}

/** The parents of these roles (of all, when not given), in the order they were given. */
export async function parentsOf(unit: ReadingUnit, roleIds?: readonly string[]): Promise<readonly ParentRow[]> {
	const query = unit
		.query(RoleParent)
		.join('roles', sameEnvironment('role_parents', 'parent_id', 'roles'))
		.select('role_parents.role_id', 'role_parents.parent_id', 'roles.key as parent')
		.orderBy(['role_parents.role_id', 'role_parents.position']);
	if (roleIds !== undefined) query.whereRaw('role_parents.role_id = any(?::uuid[])', [roleIds]);
	return query.castTo<ParentRow[]>();
}

/** An action with the key of its resource. */
export interface ActionRow {
	readonly id: string;
	readonly key: string;
	readonly resource: string;
}

/** The actions that the resource keys and action keys in `pairs` may mean, or whose ids are in `ids`. */
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

/** Replaces the grants of a role by these actions, in this order. */
export async function replaceGrants(unit: WritingUnit, roleId: string, actionIds: readonly string[]): Promise<void> {
	await unit.query(RolePermission).where('role_permissions.role_id', roleId).delete();
	const rows = actionIds.map((action_id, position) => ({ role_id: roleId, action_id, position }));
	await unit.insert(RolePermission, rows, (row) => String(row.action_id));
}

/** Deletes a role, its grants and its `extends` entries; its assignments must be gone before. Records nothing. */
export async function deleteRole(unit: WritingUnit, roleId: string): Promise<void> {
	await unit.query(Role).where('roles.id', roleId).delete();
}

/** Replaces the parents of a role by these roles, in this order. */
export async function replaceParents(unit: WritingUnit, roleId: string, parentIds: readonly string[]): Promise<void> {
	await unit.query(RoleParent).where('role_parents.role_id', roleId).delete();
	const rows = parentIds.map((parent_id, position) => ({ role_id: roleId, parent_id, position }));
	await unit.insert(RoleParent, rows, (row) => String(row.parent_id));
}
