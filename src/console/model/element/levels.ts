import type { ElementConfig, LeveledRole, PermissionLevel } from '../api-types.js';

/**
 * Permissions by user level (docs/develop/contract.md: Elements). The server enforces them. Pages show only allowed
 * actions.
 */

const order: readonly PermissionLevel[] = ['LEVEL_1', 'LEVEL_2', 'LEVEL_3', 'LEVEL_4'];

/** True if a user at this level may see the managed users. */
export function maySee(level: PermissionLevel): boolean {
	return level === 'LEVEL_1' || level === 'LEVEL_2' || level === 'LEVEL_3';
}

/** True if a user at this level may add and remove users, and assign and remove roles. */
export function mayManage(level: PermissionLevel): boolean {
	return level === 'LEVEL_1' || level === 'LEVEL_2';
}

/**
 * True if a user at `level` may assign and remove a role with the level `ofRole`. Owners may assign every role, and
 * managers may assign roles at levels 2 to 4.
 */
export function mayAssign(level: PermissionLevel, ofRole: PermissionLevel): boolean {
	return level === 'LEVEL_1' || (level === 'LEVEL_2' && order.indexOf(ofRole) > 0);
}

/**
 * True if a user at `level` may remove a user who has roles at the levels in `held`. Only an owner may remove an owner.
 */
export function mayRemove(level: PermissionLevel, held: readonly PermissionLevel[]): boolean {
	return level === 'LEVEL_1' || (level === 'LEVEL_2' && !held.includes('LEVEL_1'));
}

/**
 * Returns the roles that users can request at a place. If the resource is unknown, roles are not filtered by resource.
 */
export type RolesAt = (place: {
	readonly onInstance: boolean;
	readonly resourceId?: string | null;
}) => readonly LeveledRole[];

/**
 * Returns the roles that users can request: roles with a level in these elements, weakest first. In a tenant, these are
 * tenant roles; on an instance, the roles of its resource.
 */
export function requestableRoles(configs: readonly Pick<ElementConfig, 'roles_to_levels'>[]): RolesAt {
	const leveled = configs.flatMap(({ roles_to_levels }) =>
		order.flatMap((level) => (roles_to_levels[level] ?? []).map((role) => ({ ...role, permission_level: level }))),
	);
	const roles = weakestFirst([...new Map(leveled.map((role) => [role.id, role])).values()]);
	return ({ onInstance, resourceId = null }) =>
		roles.filter(({ resource_id }) => {
			if (!onInstance) return resource_id === null;
			return resource_id !== null && (resourceId === null || resource_id === resourceId);
		});
}

/**
 * Sorts roles by level and then by name. The weakest role comes first so the default selection does no harm.
 * Roles without a level come last, because their purpose is unknown.
 */
export function weakestFirst<Role extends { readonly permission_level: PermissionLevel; readonly name: string }>(
	roles: readonly Role[],
): readonly Role[] {
	return [...roles].sort(
		(a, b) => order.indexOf(b.permission_level) - order.indexOf(a.permission_level) || a.name.localeCompare(b.name),
	);
}
