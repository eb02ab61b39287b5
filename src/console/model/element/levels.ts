import type { ElementConfig, LeveledRole, PermissionLevel } from '../api-types.js';

/** What the levels of users allow (docs/contract.md: Elements). The server decides; pages only show what it will allow. */

const order: readonly PermissionLevel[] = ['LEVEL_1', 'LEVEL_2', 'LEVEL_3', 'LEVEL_4'];

/** Whether users of this level see who is managed. */
export function maySee(level: PermissionLevel): boolean {
	return level === 'LEVEL_1' || level === 'LEVEL_2' || level === 'LEVEL_3';
}

/** Whether users of this level add and remove users, and give and take roles. */
export function mayManage(level: PermissionLevel): boolean {
	return level === 'LEVEL_1' || level === 'LEVEL_2';
}

/** Whether a user of one level gives and takes a role of another: owners every role, managers those of levels 2 to 4. */
export function mayAssign(level: PermissionLevel, ofRole: PermissionLevel): boolean {
	return level === 'LEVEL_1' || (level === 'LEVEL_2' && order.indexOf(ofRole) > 0);
}

/** Whether a user of one level removes another who holds roles of these levels: nobody but an owner removes an owner. */
export function mayRemove(level: PermissionLevel, held: readonly PermissionLevel[]): boolean {
	return level === 'LEVEL_1' || (level === 'LEVEL_2' && !held.includes('LEVEL_1'));
}

/** The roles that can be asked for at a place. A resource that is not known does not narrow. */
export type RolesAt = (place: {
	readonly onInstance: boolean;
	readonly resourceId?: string | null;
}) => readonly LeveledRole[];

/**
 * The roles that can be asked for: those that have a level in one of these elements, the weakest first. In the tenant
 * these are roles of tenants, and on an instance roles of its resource.
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
 * Roles by their levels, those of users without power first, and by name: what a page offers first should do no harm.
 * Roles without a level come last, because nobody has said what they are for.
 */
export function weakestFirst<Role extends { readonly permission_level: PermissionLevel; readonly name: string }>(
	roles: readonly Role[],
): readonly Role[] {
	return [...roles].sort(
		(a, b) => order.indexOf(b.permission_level) - order.indexOf(a.permission_level) || a.name.localeCompare(b.name),
	);
}
