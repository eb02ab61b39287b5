import { groupBy } from '../../../compiler/group-by.js';
import { Failure, notFound, unprocessable } from '../../failure.js';
import type { RowQuery } from '../../store/query/row-query.js';
import type { ElementsConfig } from '../../store/table/element/elements-config.js';
import type { UserInvite } from '../../store/table/element/user-invite.js';
import type { Role } from '../../store/table/role.js';
import { type AssignmentRow, assignmentsBy } from '../../store/table/role-assignment.js';
import { isMember } from '../../store/table/tenant-user.js';
import { User, usersBy, userWithKey } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { ElementRoleAssign, ElementUserCreate } from '../../wire/element/element-user.js';
import type { UserRead } from '../../wire/facts/user.js';
import { assign, assignMany, removeAssignments, unassign } from '../facts/assignment.js';
import { addTenantUser, removeTenantUser } from '../facts/tenant-user.js';
import { asInstanceRole, createUser } from '../facts/user.js';
import { refuseDefinedAttributes } from '../schema/user-attributes.js';
import { inviteUser, isInviting, removeInvites } from './invite.js';
import { defaultRoleSetting } from './setting.js';
import {
	findManagedRole,
	refuseOwner,
	requireManagedRole,
	requireManager,
	type UserManagement,
} from './user-management.js';
import { announceAssignment, announceInvite, announceUser } from './webhook-event.js';

/** User management by element users. These functions never show or change anything in other tenants. */

/**
 * Returns the matching managed users, oldest first. These are the tenant members, or the users with a role on the
 * instance.
 */
export function elementUsers(
	unit: ReadingUnit,
	{ tenant, instance }: UserManagement,
	search: string | undefined,
): RowQuery<User> {
	return usersBy(unit, { search, tenant_id: tenant.id, resource_instance_id: instance?.id });
}

/** Converts users to element API objects, with their roles in this tenant and on this instance only. */
export async function readElementUsers(
	unit: ReadingUnit,
	{ tenant, instance }: Pick<UserManagement, 'tenant' | 'instance'>,
	rows: readonly User[],
): Promise<readonly UserRead[]> {
	const here = { user_ids: rows.map(({ id }) => id), tenant_ids: [tenant.id] };
	const inTenant = groupBy(await assignmentsBy(unit, { ...here, on_instances: false }).all(), ({ user_id }) => user_id);
	const ids = instance === null ? [] : [instance.id];
	const held = ids.length === 0 ? [] : await assignmentsBy(unit, { ...here, resource_instance_ids: ids }).all();
	const onInstance = groupBy(held, ({ user_id }) => user_id);
	return rows.map((row) => {
		const roles = (inTenant.get(row.id) ?? []).map(({ role }) => role);
		const resource_instance_roles = (onInstance.get(row.id) ?? []).flatMap(asInstanceRole);
		return {
			...row,
			...unit.scope,
			roles: roles.map((role) => ({ role, tenant: tenant.key })),
			associated_tenants: [{ tenant: tenant.key, roles, status: 'active' as const, resource_instance_roles }],
		};
	});
}

/** The added user, or the user's invite. */
export type AddedUser =
	| { readonly user: User; readonly invite?: undefined }
	| { readonly user?: undefined; readonly invite: UserInvite };

/**
 * Adds a user to the tenant or to the instance. An existing user with the body's key stays unchanged; otherwise the
 * user is created. The user gets the role in the body, or the element's default role. An element that invites users
 * creates an invite instead, except for tenant members. Throws `forbidden` for an actor without permission and for
 * attributes defined by the environment, `not_found` for the role, and `unprocessable` if a required role or e-mail
 * address is missing.
 */
export async function addElementUser(
	unit: WritingUnit,
	management: UserManagement,
	body: ElementUserCreate,
): Promise<AddedUser> {
	const role = await findFirstRole(unit, management, body.role);
	const { config, tenant, instance } = management;
	const { key, email, first_name, last_name, attributes, expires_at } = body;
	if (role === null && expires_at !== undefined) throw noRoleEnds();
	await refuseDefinedAttributes(unit, attributes);
	const existing = await userWithKey(unit, key);
	const belongs = existing !== null && (await isMember(unit, { tenant_id: tenant.id, user_id: existing.id }));
	if (isInviting(config) && !belongs) {
		if (role === null) throw roleRequired(config);
		if (expires_at !== undefined) throw invitedForGood();
		const invite = await inviteUser(unit, management, role, body);
		await announceInvite(unit, config, { invite, role, instance });
		return { invite };
	}
	const user = existing ?? (await createUser(unit, { key, email, first_name, last_name, attributes }));
	if (instance === null) await addTenantUser(unit, tenant, user);
	const given = role === null ? [] : await assignMany(unit, [{ ...placedRole(management, user, role), expires_at }]);
	if (belongs) for (const assignment of given) await announceAssignment(unit, config, assignment);
	else await announceUser(unit, config, { user, tenant, role });
	return { user };
}

/** Returns the role for a new user; `null` if there is none. Only users in a tenant may have no role. */
async function findFirstRole(
	unit: ReadingUnit,
	management: UserManagement,
	named: string | undefined,
): Promise<Role | null> {
	requireManager(management);
	const { config, instance } = management;
	const reference = named ?? config.settings[defaultRoleSetting];
	if (reference === undefined) {
		if (instance === null) return null;
		throw roleRequired(config);
	}
	const role = await findManagedRole(unit, management, String(reference));
	requireManagedRole(management, role);
	return role;
}

function roleRequired({ key }: ElementsConfig): Failure {
	const msg = `is required: the element \`${key}\` has no \`${defaultRoleSetting}\``;
	return unprocessable([{ loc: ['body', 'role'], msg, type: 'missing' }]);
}

function noRoleEnds(): Failure {
	const msg = 'requires `role`, because it is the expiry of this role';
	return unprocessable([{ loc: ['body', 'expires_at'], msg, type: 'value_error' }]);
}

function invitedForGood(): Failure {
	return new Failure('invalid', 'an invite assigns its role without expiry: `expires_at` is only for added users');
}

/**
 * Removes a user from the tenant, with all roles there, or removes the user's roles on the instance. Does not delete
 * the user. Also deletes the user's pending invites there; for an invited user, there may be nothing else to remove.
 * Throws `forbidden`, and `not_found` if the user is not there.
 */
export async function removeElementUser(
	unit: WritingUnit,
	management: UserManagement,
	reference: string,
): Promise<void> {
	requireManager(management);
	const { tenant, instance } = management;
	const user = await findUser(unit, management, reference);
	if (user !== null) await refuseOwner(unit, management, user);
	const invites = await removeInvites(unit, management, user?.key ?? reference);
	if (user !== null && instance === null) return removeTenantUser(unit, tenant, user);
	const place = { user_ids: [user?.id ?? ''], tenant_ids: [tenant.id], resource_instance_ids: [instance?.id ?? ''] };
	const roles = user === null ? 0 : await removeAssignments(unit, place);
	if (invites + roles === 0) throw notFound(User.title, reference);
}

/**
 * Assigns a role to a tenant member, in the tenant or on the instance, or extends the assignment. Throws `forbidden`,
 * `duplicate`, and `not_found` for the user or the role.
 */
export async function assignElementRole(
	unit: WritingUnit,
	management: UserManagement,
	reference: string,
	{ role: roleReference, expires_at }: Pick<ElementRoleAssign, 'role' | 'expires_at'>,
): Promise<AssignmentRow> {
	requireManager(management);
	const user = await findMember(unit, management, reference);
	const role = await findManagedRole(unit, management, roleReference);
	requireManagedRole(management, role);
	const assignment = await assign(unit, { ...placedRole(management, user, role), expires_at });
	await announceAssignment(unit, management.config, assignment);
	return assignment;
}

/**
 * Removes a role from a tenant member, in the tenant or on the instance. Throws `forbidden`, and `not_found` for a
 * missing user, role or assignment.
 */
export async function unassignElementRole(
	unit: WritingUnit,
	management: UserManagement,
	reference: string,
	roleReference: string,
): Promise<void> {
	requireManager(management);
	const user = await findMember(unit, management, reference);
	const role = await findManagedRole(unit, management, roleReference);
	requireManagedRole(management, role);
	await refuseOwner(unit, management, user);
	await unassign(unit, placedRole(management, user, role));
}

/** Returns the tenant member with this id or key. Throws `not_found`, even if the user exists in a different tenant. */
async function findMember(unit: ReadingUnit, management: UserManagement, reference: string): Promise<User> {
	const user = await findUser(unit, management, reference);
	if (user === null) throw notFound(User.title, reference);
	return user;
}

async function findUser(unit: ReadingUnit, { tenant }: UserManagement, reference: string): Promise<User | null> {
	const user = (await unit.findMany(User, [reference])).get(reference);
	if (user === undefined) return null;
	return (await isMember(unit, { tenant_id: tenant.id, user_id: user.id })) ? user : null;
}

function placedRole({ tenant, instance }: UserManagement, user: User, role: Role) {
	return { user: user.id, role: role.id, tenant: tenant.id, resource_instance: instance?.id };
}

/** Returns the instance in the query or body. Throws `invalid` if the two differ. */
export function namedInstance(query: string | undefined, body: string | undefined): string | undefined {
	if (query !== undefined && body !== undefined && query !== body) {
		throw new Failure('invalid', `\`resource_instance_id\` is \`${query}\` in the query and \`${body}\` in the body`);
	}
	return query ?? body;
}
