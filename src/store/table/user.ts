import { everyone } from '../../../compiler/everyone.js';
import type { SearchOperator } from '../../wire/query.js';
import { whereSearched } from '../query/filter.js';
import { rowsPerStatement } from '../query/row-chunks.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { KeyedModel } from './environment-model.js';
import { RoleAssignment } from './role-assignment.js';
import { TenantUser } from './tenant-user.js';

/** A user of the application, subject to permission checks. */
export class User extends KeyedModel {
	static override readonly tableName = 'users';
	static override readonly jsonAttributes = ['attributes'];
	static readonly kind = 'user';
	static readonly title = 'User';
	static readonly shown: string | undefined = `users.key <> '${everyone}'`;

	declare email: string | null;
	declare first_name: string | null;
	declare last_name: string | null;
	declare attributes: Record<string, unknown>;
}

/** A holder of roles: a user, or everyone. */
export class Holder extends User {
	static override readonly shown = undefined;
}

/**
 * Adds the holder for everyone, if it is missing. It is hidden from lists of users. Does not write to the change log.
 */
export async function ensureEveryone(unit: WritingUnit): Promise<void> {
	await unit.insertMissing(Holder, [{ key: everyone, attributes: {}, ...unit.stamp() }]);
}

export interface UserFilter {
	/** Matches key, email address and names. */
	readonly search?: string | undefined;
	readonly search_operator?: SearchOperator;
	/** Only users with at least one of these roles. If `tenant_id` is set, the role must be held in that tenant. */
	readonly role_ids?: readonly string[] | undefined;
	/**
	 * Only users with one of `role_ids` on this instance, or with any role on it if `role_ids` is absent. Ignored if both
	 * `role_ids` and `tenant_id` are absent.
	 */
	readonly resource_instance_id?: string | undefined;
	/** If set, conditional assignments do not count as roles. */
	readonly unconditional?: true;
	/** Only members of this tenant: users who were added to it or hold a role there. */
	readonly tenant_id?: string | undefined;
}

/** Returns the environment's users matching the filter, oldest first. */
export function usersBy(unit: ReadingUnit, filter: UserFilter): RowQuery<User> {
	const query = unit.query(User).orderBy('users.id');
	const { search, search_operator, role_ids, tenant_id, resource_instance_id, unconditional } = filter;
	whereSearched(query, searched, search, search_operator);
	if (role_ids === undefined && tenant_id === undefined) return rowQuery(query);
	const held = unit.query(RoleAssignment).select('role_assignments.user_id');
	if (tenant_id !== undefined) held.where('role_assignments.tenant_id', tenant_id);
	if (resource_instance_id !== undefined) held.where({ resource_instance_id });
	if (unconditional) held.whereNull('role_assignments.condition_set');
	if (role_ids !== undefined) return rowQuery(query.whereIn('users.id', held.whereRaw(holdsAny, [role_ids])));
	if (resource_instance_id !== undefined) return rowQuery(query.whereIn('users.id', held));
	const added = unit.query(TenantUser).select('tenant_users.user_id').where({ tenant_id });
	return rowQuery(query.where((either) => either.whereIn('users.id', held).orWhereIn('users.id', added)));
}

const searched = ['key', 'email', 'first_name', 'last_name'].map((column) => `users.${column}`);

const holdsAny = 'role_assignments.role_id = any(?::uuid[])';

/** Returns the user with this key. Unlike a reference, the key never matches an id. */
export async function userWithKey(unit: ReadingUnit, key: string): Promise<User | null> {
	return (await unit.query(User).where('users.key', key).first()) ?? null;
}

/** Returns at most `rowsPerStatement` users that follow this id, oldest first. */
export async function someUsersAfter(unit: ReadingUnit, id: string): Promise<readonly User[]> {
	return unit.query(User).where('users.id', '>', id).orderBy('users.id').limit(rowsPerStatement);
}
