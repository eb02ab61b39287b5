import { notFound } from '../../failure.js';
import type { Named } from '../../store/table/assignment-reference.js';
import { UserInvite, userInvitesBy } from '../../store/table/element/user-invite.js';
import type { Tenant } from '../../store/table/tenant.js';
import {
	deleteTenantUsers,
	insertTenantUsers,
	type TenantUserFilter,
	type TenantUserRow,
	tenantUsersBy,
} from '../../store/table/tenant-user.js';
import type { User } from '../../store/table/user.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { removeAssignments } from './assignment.js';

export interface TenantMembership {
	readonly user: Named;
	readonly tenant: Named;
}

/** Adds a user to a tenant. Does nothing if the user is already a member. */
export async function addTenantUser(unit: WritingUnit, tenant: Tenant, user: User): Promise<void> {
	await addTenantUsers(unit, [{ user, tenant }]);
}

/** Adds users to tenants, except for existing memberships. */
export async function addTenantUsers(unit: WritingUnit, places: readonly TenantMembership[]): Promise<void> {
	const keys = new Map(places.flatMap(({ user, tenant }) => [user, tenant]).map(({ id, key }) => [id, key]));
	const ids = places.map(({ user, tenant }) => ({ tenant_id: tenant.id, user_id: user.id }));
	for (const { tenant_id, user_id, created_at } of await insertTenantUsers(unit, ids)) {
		const [tenant = '', user = ''] = [keys.get(tenant_id), keys.get(user_id)];
		const place = { tenant_id, user_id, tenant, user, created_at };
		unit.record('tenant_user', 'create', membershipName(place), null, place);
	}
}

/**
 * Removes a user from a tenant, with the user's roles and pending invites there, including invites to instances. Does
 * not delete the user. Throws `not_found` if the user is not a member.
 */
export async function removeTenantUser(unit: WritingUnit, tenant: Tenant, user: User): Promise<void> {
	const place = { tenant_ids: [tenant.id], user_ids: [user.id] };
	const roles = await removeAssignments(unit, place);
	const places = await removeTenantUsers(unit, place);
	const invited = { tenant_ids: [tenant.id], user_key: user.key, status: 'pending' } as const;
	await unit.removeMany(UserInvite, await userInvitesBy(unit, invited).all(), (invite) => invite.key);
	if (roles + places === 0) throw notFound('TenantUser', `${user.key}@${tenant.key}`);
}

/** Removes all matching users from their tenants, but leaves their roles. Returns the number removed. */
export async function removeTenantUsers(unit: WritingUnit, filter: TenantUserFilter): Promise<number> {
	const places = await tenantUsersBy(unit, filter);
	if (places.length > 0) await deleteTenantUsers(unit, filter);
	for (const place of places) unit.record('tenant_user', 'delete', membershipName(place), { ...place }, null);
	return places.length;
}

function membershipName({ user, tenant }: Pick<TenantUserRow, 'user' | 'tenant'>): string {
	return `${user}@${tenant}`;
}
