import { Failure, forbidden, notFound, unprocessable } from '../../failure.js';
import type { RowQuery } from '../../store/query/row-query.js';
import type { ElementsConfig } from '../../store/table/element/elements-config.js';
import { UserInvite, userInvitesBy } from '../../store/table/element/user-invite.js';
import { type InstanceRow, instancesBy } from '../../store/table/resource-instance.js';
import { Role, rolesWithIds } from '../../store/table/role.js';
import { Tenant } from '../../store/table/tenant.js';
import { type User, userWithKey } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { asId, UserKey } from '../../wire/common.js';
import type { ElementUserCreate } from '../../wire/element/element-user.js';
import type { OwnInviteApprove, UserInviteRead } from '../../wire/element/user-invite.js';
import { Email, isSameAddress } from '../../wire/email.js';
import type { UserCreate, UserRead } from '../../wire/facts/user.js';
import { assignMany } from '../facts/assignment.js';
import { addTenantUser } from '../facts/tenant-user.js';
import { createUser } from '../facts/user.js';
import { refuseDefinedAttributes } from '../schema/user-attributes.js';
import { removeEndedInvites } from './ended-invite.js';
import { requireManagedRole, type UserManagement } from './user-management.js';
import { announceUser, findAnnouncing } from './webhook-event.js';

/** Invites created by users in elements. The invited user approves an invite with an application token. */

/** Lifetime of an element invite until approval, in seconds: a week. */
const inviteSeconds = 604_800;

/**
 * True if adding a user in this element creates an invite. This is the case if the element sends mail or has a webhook.
 */
export function isInviting({ email_notifications, webhook_url }: ElementsConfig): boolean {
	return email_notifications || webhook_url !== null;
}

/**
 * Invites a user to the tenant or instance, with a role that the actor may assign. A pending invite is renewed for a
 * full lifetime. Throws `forbidden` if the actor may not remove the role in the pending invite, and `unprocessable` if
 * the body has no e-mail address.
 */
export async function inviteUser(
	unit: WritingUnit,
	management: UserManagement,
	role: Role,
	body: ElementUserCreate,
): Promise<UserInvite> {
	const { config, tenant, instance } = management;
	const { key, first_name = null, last_name = null, attributes } = body;
	const columns = {
		email: invitedAddress(body),
		first_name,
		last_name,
		attributes,
		role_id: role.id,
		config_id: config.id,
		expires_at: new Date(unit.now.getTime() + inviteSeconds * 1_000),
	};
	await removeEndedInvites(unit, [key]);
	const [pending] = await pendingInvites(unit, management, { user_key: key }).all();
	if (pending !== undefined) {
		requireManagedRole(management, await unit.find(Role, pending.role_id));
		return unit.update(UserInvite, pending, columns, pending.key);
	}
	const place = { tenant_id: tenant.id, resource_instance_id: instance?.id ?? null };
	const taken = (await unit.findMany(UserInvite, [key])).has(key);
	// Invite keys are unique, but a different tenant may have invited the same user. The actor must not learn this.
	const inviteKey = taken ? `${key}|${unit.clock.newId()}` : key;
	const invite = { ...columns, ...place, key: inviteKey, user_key: key, status: 'pending' as const };
	return unit.create(UserInvite, invite, inviteKey);
}

function invitedAddress({ email, key }: ElementUserCreate): string {
	if (email !== undefined) return email;
	if (Email.safeParse(key).success) return key;
	const msg = 'is required: the element invites users';
	throw unprocessable([{ loc: ['body', 'email'], msg, type: 'missing' }]);
}

/** Returns the pending invites for the actor's tenant or instance, oldest first. */
export function pendingInvites(
	unit: ReadingUnit,
	{ tenant, instance }: Pick<UserManagement, 'tenant' | 'instance'>,
	narrowed: { readonly search?: string | undefined; readonly user_key?: string; readonly ids?: readonly string[] },
): RowQuery<UserInvite> {
	const place = instance === null ? { on_instances: false } : { resource_instance_ids: [instance.id] };
	return userInvitesBy(unit, { ...narrowed, ...place, tenant_ids: [tenant.id], status: 'pending' });
}

/** Converts an invite to its API object in elements, with the future user's key. */
export function readElementInvite(unit: ReadingUnit, invite: UserInvite): UserInviteRead {
	return { ...invite, ...unit.scope, key: userKeyOf(invite), invite_expires_at: invite.expires_at ?? undefined };
}

function userKeyOf({ user_key, key }: UserInvite): string {
	return user_key ?? key;
}

/**
 * Converts invites to entries in user lists. `roles` is empty, and the entry for the tenant has the status `pending`
 * and the invited role.
 */
export async function readInvitedUsers(
	unit: ReadingUnit,
	{ tenant, instance }: UserManagement,
	invites: readonly UserInvite[],
): Promise<readonly UserRead[]> {
	const ids = invites.map(({ role_id }) => role_id);
	const roles = new Map((await rolesWithIds(unit, ids).all()).map((role) => [role.id, role]));
	return invites.map((invite) => {
		const role = roles.get(invite.role_id);
		const inTenant = role?.resource_id === null ? [role.key] : [];
		const onInstance = role === undefined || instance === null || role.resource_id === null ? [] : [role.key];
		const resource_instance_roles = onInstance.map((key) => asInstanceRole(instance, key));
		return {
			...invite,
			...unit.scope,
			key: userKeyOf(invite),
			attributes: invite.attributes ?? {},
			roles: [],
			associated_tenants: [
				{ tenant: tenant.key, roles: inTenant, status: 'pending' as const, resource_instance_roles },
			],
		};
	});
}

function asInstanceRole(instance: InstanceRow | null, role: string) {
	return { resource_instance: instance?.key ?? '', resource: instance?.resource ?? '', role };
}

/**
 * Deletes a user's pending invites for the actor's tenant or instance. `reference` is the user's key or an invite id.
 * Returns the number deleted. Throws `forbidden` if the actor may not remove the role.
 */
export async function removeInvites(unit: WritingUnit, management: UserManagement, reference: string): Promise<number> {
	const id = asId(reference);
	const named = await pendingInvites(unit, management, { user_key: reference }).all();
	const invites = named.length > 0 || id === null ? named : await pendingInvites(unit, management, { ids: [id] }).all();
	for (const { role_id } of invites) requireManagedRole(management, await unit.find(Role, role_id));
	await unit.removeMany(UserInvite, invites, (invite) => invite.key);
	return invites.length;
}

/** Subject of an application token. */
export interface InvitedPerson {
	readonly key: string;
	/** `null` if the token has no verified address. */
	readonly email: string | null;
}

/** A user with an approved invite, and the invite's tenant and instance. */
export interface ApprovedInvite extends Pick<UserManagement, 'tenant' | 'instance'> {
	readonly user: User;
}

/**
 * Approves an invite for its user. Creates a missing user, leaves an existing user unchanged, and assigns the role. Any
 * token holder might know an invite's id, so the user's key or e-mail address must match the invite. Throws
 * `not_found`, `invalid` like `approveUserInvite`, and `forbidden` for a different user.
 */
export async function approveOwnInvite(
	unit: WritingUnit,
	code: string,
	person: InvitedPerson,
	{ email, attributes }: OwnInviteApprove,
): Promise<ApprovedInvite> {
	const id = asId(code);
	const [invite] = id === null ? [] : await userInvitesBy(unit, { ids: [id] }).all();
	if (invite === undefined) throw notFound(UserInvite.title, code);
	requireInvited(invite, person);
	requireOpenInvite(invite, email);
	const existing = await userWithKey(unit, person.key);
	if (existing !== null) return admitInvited(unit, invite, existing);
	await refuseDefinedAttributes(unit, attributes);
	const given = { ...attributes, ...invite.attributes };
	const key = requireUserKey(person.key);
	const user = await createInvited(unit, invite, { key, email: invite.email, attributes: given });
	unit.actAs(user.id);
	return admitInvited(unit, invite, user);
}

/** Creates the invited user, with the names in the invite. Throws `duplicate`. */
export async function createInvited(
	unit: WritingUnit,
	{ first_name, last_name }: UserInvite,
	columns: Pick<UserCreate, 'key' | 'email' | 'attributes'>,
): Promise<User> {
	return createUser(unit, {
		...columns,
		first_name: first_name ?? undefined,
		last_name: last_name ?? undefined,
	});
}

/** Gives a user the invited role and marks the invite as approved. */
export async function admitInvited(unit: WritingUnit, invite: UserInvite, user: User): Promise<ApprovedInvite> {
	const { tenant_id, role_id, resource_instance_id, user_key } = invite;
	const tenant = await unit.find(Tenant, tenant_id);
	const role = await unit.find(Role, role_id);
	const onInstance = role.resource_id === null ? null : resource_instance_id;
	// Users added in an element are tenant members even without a role.
	if (user_key !== null && onInstance === null) await addTenantUser(unit, tenant, user);
	const resource_instance = onInstance ?? undefined;
	await assignMany(unit, [{ user: user.id, role: role_id, tenant: tenant_id, resource_instance }]);
	await unit.update(UserInvite, invite, { status: 'approved', expires_at: null }, invite.key);
	const config = await findAnnouncing(unit, invite.config_id);
	if (config !== null) await announceUser(unit, config, { user, tenant, role });
	const [instance = null] = onInstance === null ? [] : await instancesBy(unit, { ids: [onInstance] }).all();
	return { user, tenant, instance };
}

function requireInvited(invite: UserInvite, { key, email }: InvitedPerson): void {
	const sameAddress = email !== null && isSameAddress(email, invite.email);
	if (key === userKeyOf(invite) || sameAddress) return;
	throw forbidden('the token does not belong to the invited user');
}

/** Throws `invalid` for an approved invite, or for a different e-mail address. */
export function requireOpenInvite(invite: UserInvite, email: string): void {
	if (invite.status === 'approved') {
		throw new Failure('invalid', `the invite \`${userKeyOf(invite)}\` has already been approved`);
	}
	if (isSameAddress(invite.email, email)) return;
	throw new Failure('invalid', `\`${email}\` is not the invited e-mail address`);
}

/** Validates the user key in a token. Throws `invalid`. */
function requireUserKey(key: string): string {
	if (UserKey.safeParse(key).success) return key;
	throw new Failure('invalid', `the token has the user key \`${key}\`, which is not a valid key`);
}
