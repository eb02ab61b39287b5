import type { QueryBuilder } from 'objection';
import { holdsNow } from '../query/holds-now.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { EnvironmentModel, sameEnvironment } from './environment-model.js';

/** A user who was added to a tenant, and is a member with or without a role. */
export class TenantUser extends EnvironmentModel {
	static override readonly tableName = 'tenant_users';
	static readonly kind = 'tenant_user';
	static readonly title = 'TenantUser';

	declare tenant_id: string;
	declare user_id: string;

	static override get idColumn(): string[] {
		return ['environment_id', 'tenant_id', 'user_id'];
	}
}

/**
 * Returns an SQL condition that is true if the row's user is a tenant member, which means that the tenant's user list
 * contains the user. `row` is the name of a table with `environment_id`, `tenant_id` and `user_id`.
 */
export function membershipCondition(row: string): string {
	const held = (table: string, condition: string) =>
		`exists (select from ${table} as held where held.environment_id = ${row}.environment_id
			and held.tenant_id = ${row}.tenant_id and held.user_id = ${row}.user_id and ${condition})`;
	return `(${held('tenant_users', 'true')} or ${held('role_assignments', holdsNow('held'))})`;
}

/** A user in a tenant, with user key and tenant key. */
export interface TenantUserRow {
	readonly tenant_id: string;
	readonly user_id: string;
	readonly tenant: string;
	readonly user: string;
	readonly created_at: Date;
}

/** Filter for tenant users. A row matches if each list contains the row's value. Absent lists do not filter. */
export interface TenantUserFilter {
	readonly user_ids?: readonly string[];
	readonly tenant_ids?: readonly string[];
	/** Matches exactly these id pairs. */
	readonly places?: readonly Pick<TenantUserRow, 'tenant_id' | 'user_id'>[];
}

/** Returns tenant users, ordered by tenant. */
export async function tenantUsersBy(unit: ReadingUnit, filter: TenantUserFilter): Promise<readonly TenantUserRow[]> {
	const query = unit
		.query(TenantUser)
		.join('users', sameEnvironment('tenant_users', 'user_id', 'users'))
		.join('tenants', sameEnvironment('tenant_users', 'tenant_id', 'tenants'))
		.select('tenant_users.tenant_id', 'tenant_users.user_id', 'tenant_users.created_at')
		.select('users.key as user', 'tenants.key as tenant')
		.orderBy(['tenant_users.tenant_id', 'tenant_users.user_id']);
	return wherePlaced(query, filter).castTo<TenantUserRow[]>();
}

/**
 * Returns the tenants to which these users were added. Faster than `tenantUsersBy` for the few users in typical
 * requests.
 */
export async function readUserTenants(
	unit: ReadingUnit,
	user_ids: readonly string[],
): Promise<readonly TenantUserRow[]> {
	return (await unit.prepared<TenantUserRow>('tenants_of_users', ofUsers, { user_ids: [...user_ids] })).rows;
}

const ofUsers = `select tenant_users.tenant_id, tenant_users.user_id, tenant_users.created_at,
		users.key as "user", tenants.key as tenant
	from tenant_users
	join users on users.environment_id = :environment_id and users.id = tenant_users.user_id
	join tenants on tenants.environment_id = :environment_id and tenants.id = tenant_users.tenant_id
	where tenant_users.environment_id = :environment_id and tenant_users.user_id = any(:user_ids::uuid[])
	order by tenant_users.tenant_id, tenant_users.user_id`;

/**
 * Returns true if a user is a tenant member: the user was added to the tenant, or has a role in the tenant or on one of
 * its instances.
 */
export async function isMember(
	unit: ReadingUnit,
	{ tenant_id, user_id }: Pick<TenantUserRow, 'tenant_id' | 'user_id'>,
): Promise<boolean> {
	const { rows } = await unit.raw(
		`select from (values (:environment_id::uuid, :tenant_id::uuid, :user_id::uuid))
			as asked (environment_id, tenant_id, user_id) where ${membershipCondition('asked')}`,
		{ tenant_id, user_id },
	);
	return rows.length > 0;
}

/** Adds users to tenants and returns the new rows. Does not write to the change log. */
export async function insertTenantUsers(
	unit: WritingUnit,
	places: readonly Pick<TenantUserRow, 'tenant_id' | 'user_id'>[],
): Promise<readonly TenantUser[]> {
	return unit.insertMissing(
		TenantUser,
		places.map(({ tenant_id, user_id }) => ({ tenant_id, user_id, created_at: unit.now })),
	);
}

/** Removes all tenant users matching the filter. Does not write to the change log. */
export async function deleteTenantUsers(unit: WritingUnit, filter: TenantUserFilter): Promise<void> {
	await wherePlaced(unit.query(TenantUser), filter).delete();
}

function wherePlaced(
	query: QueryBuilder<TenantUser, TenantUser[]>,
	{ user_ids, tenant_ids, places }: TenantUserFilter,
): QueryBuilder<TenantUser, TenantUser[]> {
	if (user_ids !== undefined) query.whereRaw('tenant_users.user_id = any(?::uuid[])', [user_ids]);
	if (tenant_ids !== undefined) query.whereRaw('tenant_users.tenant_id = any(?::uuid[])', [tenant_ids]);
	if (places === undefined) return query;
	return query.whereRaw(
		'(tenant_users.tenant_id, tenant_users.user_id) in (select * from unnest(?::uuid[], ?::uuid[]))',
		[places.map(({ tenant_id }) => tenant_id), places.map(({ user_id }) => user_id)],
	);
}
