import { notFound } from '../failure.js';
import type { Named } from '../store/table/role-assignment.js';
import type { Tenant } from '../store/table/tenant.js';
import {
	deleteTenantUsers,
	insertTenantUsers,
	type TenantUserFilter,
	type TenantUserRow,
	tenantUsersBy,
} from '../store/table/tenant-user.js';
import type { User } from '../store/table/user.js';
import type { WritingUnit } from '../store/unit.js';
import { removeAssignments } from './assignment.js';

/** A user and a tenant. */
export interface Place {
	readonly user: Named;
	readonly tenant: Named;
}

/** Adds a user to a tenant; one who is there already stays. */
export async function addTenantUser(unit: WritingUnit, tenant: Tenant, user: User): Promise<void> {
	await addTenantUsers(unit, [{ user, tenant }]);
}

/** Adds users to tenants; those who are there already stay. */
export async function addTenantUsers(unit: WritingUnit, places: readonly Place[]): Promise<void> {
	const keys = new Map(places.flatMap(({ user, tenant }) => [user, tenant]).map(({ id, key }) => [id, key]));
	const ids = places.map(({ user, tenant }) => ({ tenant_id: tenant.id, user_id: user.id }));
	for (const { tenant_id, user_id, created_at } of await insertTenantUsers(unit, ids)) {
		const [tenant = '', user = ''] = [keys.get(tenant_id), keys.get(user_id)];
		const place = { tenant_id, user_id, tenant, user, created_at };
		unit.record('tenant_user', 'create', nameOf(place), null, place);
	}
}

/**
 * Takes a user out of a tenant, with the roles it holds there; the user itself stays. Throws `not_found` when it does
 * not belong to the tenant.
 */
export async function removeTenantUser(unit: WritingUnit, tenant: Tenant, user: User): Promise<void> {
	const place = { tenant_ids: [tenant.id], user_ids: [user.id] };
	const roles = await removeAssignments(unit, place);
	const places = await removeTenantUsers(unit, place);
	if (roles + places === 0) throw notFound('TenantUser', `${user.key}@${tenant.key}`);
}

/** Takes all users that pass the filter out of their tenants, but not their roles. Returns how many places went. */
export async function removeTenantUsers(unit: WritingUnit, filter: TenantUserFilter): Promise<number> {
	const places = await tenantUsersBy(unit, filter);
	if (places.length > 0) await deleteTenantUsers(unit, filter);
	for (const place of places) unit.record('tenant_user', 'delete', nameOf(place), { ...place }, null);
	return places.length;
}

function nameOf({ user, tenant }: Pick<TenantUserRow, 'user' | 'tenant'>): string {
	return `${user}@${tenant}`;
}
