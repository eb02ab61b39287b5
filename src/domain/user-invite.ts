import { Failure } from '../failure.js';
import { ResourceInstance } from '../store/table/resource-instance.js';
import { ofTenants, Role } from '../store/table/role.js';
import { Tenant } from '../store/table/tenant.js';
import type { User } from '../store/table/user.js';
import { UserInvite, type UserInviteFilter, userInvitesBy } from '../store/table/user-invite.js';
import type { ReadingUnit, WritingUnit } from '../store/unit.js';
import type { UserInviteApprove, UserInviteCreate, UserInviteRead, UserInviteUpdate } from '../wire/user-invite.js';
import { defined } from './defined.js';
import { createUser } from './user.js';

/** An invite as the API shows it. */
export function readUserInvite(unit: ReadingUnit, row: UserInvite): UserInviteRead {
	return { ...row, ...unit.scope };
}

/** Adds an invite. Throws `duplicate`, `not_found` for what its ids name, or `invalid` as `changeUserInvite` does. */
export async function createUserInvite(unit: WritingUnit, body: UserInviteCreate): Promise<UserInvite> {
	return unit.create(UserInvite, { ...defined(body), ...(await placeOf(unit, body)) }, body.key);
}

/**
 * Changes what is given of an invite. Throws `not_found` for what its ids name, `invalid` when the resource instance
 * is not of the tenant.
 */
export async function changeUserInvite(
	unit: WritingUnit,
	invite: UserInvite,
	body: UserInviteUpdate,
): Promise<UserInvite> {
	const given = defined(body);
	return unit.update(UserInvite, invite, { ...given, ...(await placeOf(unit, { ...invite, ...given })) }, invite.key);
}

/**
 * Makes the user that was invited, with the invited role in the tenant or on the resource instance. Throws `invalid` when that was done before or
 * somebody else was invited, `duplicate` when a user has the key already.
 */
export async function approveUserInvite(unit: WritingUnit, invite: UserInvite, body: UserInviteApprove): Promise<User> {
	if (invite.status === 'approved') throw new Failure('invalid', `the invite \`${invite.key}\` is approved already`);
	if (invite.email.toLowerCase() !== body.email.toLowerCase()) {
		throw new Failure('invalid', `\`${body.email}\` is not the e-mail address that was invited`);
	}
	const { first_name, last_name, role_id, tenant_id, resource_instance_id } = invite;
	const role = await unit.find(Role, role_id);
	const resource_instance = role.resource_id === null ? undefined : (resource_instance_id ?? undefined);
	const user = await createUser(unit, {
		...body,
		first_name: first_name ?? undefined,
		last_name: last_name ?? undefined,
		role_assignments: [{ role: role_id, tenant: tenant_id, resource_instance }],
	});
	await unit.update(UserInvite, invite, { status: 'approved' }, invite.key);
	return user;
}

/** Deletes the invites that pass the filter: what must go before the role, tenant or instance that they name goes. */
export async function removeUserInvites(unit: WritingUnit, filter: UserInviteFilter): Promise<void> {
	await unit.removeMany(UserInvite, await userInvitesBy(unit, filter), (invite) => invite.key);
}

type Place = Pick<UserInvite, 'role_id' | 'tenant_id' | 'resource_instance_id'>;
type Named = Omit<Place, 'resource_instance_id'> & { readonly resource_instance_id?: string | null | undefined };

/**
 * The ids of what an invite names, all of which exist. The role is one of the instance's resource, or a tenant role,
 * which is held in the whole tenant even where an instance is named.
 */
async function placeOf(unit: ReadingUnit, named: Named): Promise<Place> {
	const tenant = await unit.find(Tenant, named.tenant_id);
	if (!named.resource_instance_id) {
		const role = await unit.find(Role, named.role_id, ofTenants);
		return { role_id: role.id, tenant_id: tenant.id, resource_instance_id: null };
	}
	const instance = await unit.find(ResourceInstance, named.resource_instance_id);
	if (instance.tenant_id !== tenant.id) {
		throw new Failure('invalid', `the resource instance \`${instance.key}\` is not of the tenant \`${tenant.key}\``);
	}
	const roles = await unit.findMany(Role, [named.role_id], { resource_id: instance.resource_id });
	const role = roles.get(named.role_id) ?? (await unit.find(Role, named.role_id, ofTenants));
	return { role_id: role.id, tenant_id: tenant.id, resource_instance_id: instance.id };
}
