import { Failure } from '../../failure.js';
import { UserInvite } from '../../store/table/element/user-invite.js';
import { ResourceInstance } from '../../store/table/resource-instance.js';
import { Role, tenantRolesOnly } from '../../store/table/role.js';
import { Tenant } from '../../store/table/tenant.js';
import { type User, userWithKey } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type {
	UserInviteApprove,
	UserInviteCreate,
	UserInviteRead,
	UserInviteUpdate,
} from '../../wire/element/user-invite.js';
import { asDate } from '../as-date.js';
import { refuseToAssign } from '../schema/computed-role.js';
import { definedFields } from '../schema/defined-fields.js';
import { removeEndedInvites } from './ended-invite.js';
import { admitInvited, createInvited, requireOpenInvite } from './invite.js';

/** Converts an invite to its API object. */
export function readUserInvite(unit: ReadingUnit, row: UserInvite): UserInviteRead {
	return { ...row, ...unit.scope, invite_expires_at: row.expires_at ?? undefined };
}

/** Adds an invite. Throws `duplicate`, `not_found` for missing objects, or `invalid` like `changeUserInvite`. */
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
 * Changes the passed invite fields. Throws `not_found` for missing objects, and `invalid` if the resource instance is
 * not in the tenant.
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
 * Creates the invited user, with the role in the tenant or on the resource instance. Throws `invalid` if the invite is
 * already approved or has a different e-mail address. Throws `duplicate` if a user with this key exists, unless the
 * invite was created in an element.
 */
export async function approveUserInvite(unit: WritingUnit, invite: UserInvite, body: UserInviteApprove): Promise<User> {
	requireOpenInvite(invite, body.email);
	const { key, email } = body;
	const attributes = { ...invite.attributes, ...body.attributes };
	// Invites from elements may name an existing user in a different tenant.
	const existing = invite.user_key === null ? null : await userWithKey(unit, key);
	const user = existing ?? (await createInvited(unit, invite, { key, email, attributes }));
	await admitInvited(unit, invite, user);
	return user;
}

/** Returns an invite's expiry. An approved invite is kept permanently, as a record. */
function openUntil(status: UserInvite['status'], end: Date | null): Date | null {
	return status === 'approved' ? null : end;
}

type InviteTarget = Pick<UserInvite, 'role_id' | 'tenant_id' | 'resource_instance_id'>;
type NamedTarget = Omit<InviteTarget, 'resource_instance_id'> & {
	readonly resource_instance_id?: string | null | undefined;
};

/**
 * Checks that all objects in an invite exist, and returns their ids. The role belongs to the instance's resource or is
 * a tenant role. A tenant role applies to the whole tenant, even if the invite contains an instance.
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
	refuseToAssign(role);
	return { role_id: role.id, tenant_id: tenant.id, resource_instance_id: instance.id };
}
