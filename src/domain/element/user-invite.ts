import { Failure } from '../../failure.js';
import { ResourceInstance } from '../../store/table/resource-instance.js';
import { Role, tenantRolesOnly } from '../../store/table/role.js';
import { Tenant } from '../../store/table/tenant.js';
import { type User, userWithKey } from '../../store/table/user.js';
import { UserInvite, type UserInviteFilter, userInvitesBy } from '../../store/table/user-invite.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type {
	UserInviteApprove,
	UserInviteCreate,
	UserInviteRead,
	UserInviteUpdate,
} from '../../wire/element/user-invite.js';
import { asDate } from '../as-date.js';
import { definedFields } from '../schema/defined-fields.js';
import { removeEndedInvites } from './ended-invite.js';
import { admitInvited, createInvited, requireOpenInvite } from './invite.js';

/** An invite as the API shows it. */
export function readUserInvite(unit: ReadingUnit, row: UserInvite): UserInviteRead {
	return { ...row, ...unit.scope, invite_expires_at: row.expires_at ?? undefined };
}

/** Adds an invite. Throws `duplicate`, `not_found` for what its ids name, or `invalid` as `changeUserInvite` does. */
export async function createUserInvite(unit: WritingUnit, body: UserInviteCreate): Promise<UserInvite> {
	const { invite_expires_at, ...fields } = body;
	const target = await resolveTarget(unit, body);
	const columns = {
		...definedFields(fields),
		...target,
		expires_at: openUntil(body.status, asDate(invite_expires_at)),
	};
	await removeEndedInvites(unit, [body.key]);
	return unit.create(UserInvite, columns, body.key);
}

/**
 * Changes the given fields of an invite. Throws `not_found` for what its ids name, and `invalid` if the resource
 * instance is not in the tenant.
 */
export async function changeUserInvite(
	unit: WritingUnit,
	invite: UserInvite,
	body: UserInviteUpdate,
): Promise<UserInvite> {
	const { invite_expires_at, ...fields } = body;
	const given = definedFields(fields);
	const end = invite_expires_at === undefined ? invite.expires_at : asDate(invite_expires_at ?? undefined);
	const target = await resolveTarget(unit, { ...invite, ...given });
	const columns = { ...given, ...target, expires_at: openUntil(given.status ?? invite.status, end) };
	return unit.update(UserInvite, invite, columns, invite.key);
}

/**
 * Creates the invited user, with the invited role in the tenant or on the resource instance. Throws `invalid` if the
 * invite was approved before or is for another e-mail address, and `duplicate` if a user has the key already and the
 * invite was not made in an element.
 */
export async function approveUserInvite(unit: WritingUnit, invite: UserInvite, body: UserInviteApprove): Promise<User> {
	requireOpenInvite(invite, body.email);
	const { key, email } = body;
	const attributes = { ...invite.attributes, ...body.attributes };
	// In elements, users of other tenants are invited too.
	const existing = invite.user_key === null ? null : await userWithKey(unit, key);
	const user = existing ?? (await createInvited(unit, invite, { key, email, attributes }));
	await admitInvited(unit, invite, user);
	return user;
}

/**
 * Deletes the invites that match the filter, as must happen before the role, tenant or instance that they name is
 * deleted.
 */
export async function removeUserInvites(unit: WritingUnit, filter: UserInviteFilter): Promise<void> {
	await unit.removeMany(UserInvite, await userInvitesBy(unit, filter), (invite) => invite.key);
}

/** The end of an invite. One that was approved stays as a record, for good. */
function openUntil(status: UserInvite['status'], end: Date | null): Date | null {
	return status === 'approved' ? null : end;
}

type InviteTarget = Pick<UserInvite, 'role_id' | 'tenant_id' | 'resource_instance_id'>;
type NamedTarget = Omit<InviteTarget, 'resource_instance_id'> & {
	readonly resource_instance_id?: string | null | undefined;
};

/**
 * The ids in an invite, after checking that all of them exist. The role belongs to the instance's resource, or is a
 * tenant role, which is held in the whole tenant even if an instance is named.
 */
async function resolveTarget(unit: ReadingUnit, target: NamedTarget): Promise<InviteTarget> {
	const tenant = await unit.find(Tenant, target.tenant_id);
	if (!target.resource_instance_id) {
		const role = await unit.find(Role, target.role_id, tenantRolesOnly);
		return { role_id: role.id, tenant_id: tenant.id, resource_instance_id: null };
	}
	const instance = await unit.find(ResourceInstance, target.resource_instance_id);
	if (instance.tenant_id !== tenant.id) {
		throw new Failure('invalid', `the resource instance \`${instance.key}\` is not in the tenant \`${tenant.key}\``);
	}
	const roles = await unit.findMany(Role, [target.role_id], { resource_id: instance.resource_id });
	const role = roles.get(target.role_id) ?? (await unit.find(Role, target.role_id, tenantRolesOnly));
	return { role_id: role.id, tenant_id: tenant.id, resource_instance_id: instance.id };
}
