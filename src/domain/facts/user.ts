import { groupBy } from '../../../compiler/group-by.js';
import { onlyRow } from '../../store/query/only-row.js';
import { type AssignmentRow, readHeldRoles } from '../../store/table/role-assignment.js';
import type { Tenant } from '../../store/table/tenant.js';
import { readUserTenants, type TenantUserRow } from '../../store/table/tenant-user.js';
import { User } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceParts } from '../../wire/common.js';
import type { UserCreate, UserRead, UserReplace, UserUpdate } from '../../wire/facts/user.js';
import { removeRequests } from '../element/request-record.js';
import { refuseTakenKeys } from '../refuse-taken-keys.js';
import { readCondition } from '../schema/condition-values.js';
import { definedFields } from '../schema/defined-fields.js';
import { assignMany, removeAssignments, replaceAssignments } from './assignment.js';
import { addTenantUser, removeTenantUsers } from './tenant-user.js';

/** Converts users to API objects with their roles in each tenant and, on request, on resource instances. */
export async function readUsers(
	unit: ReadingUnit,
	rows: readonly User[],
	withInstanceRoles = false,
): Promise<readonly UserRead[]> {
	const user_ids = rows.map((row) => row.id);
	const [held, places] = await Promise.all([readHeldRoles(unit, user_ids), readUserTenants(unit, user_ids)]);
	const assignmentsByUser = groupBy(held, (assignment) => assignment.user_id);
	const placesByUser = groupBy(places, (place) => place.user_id);
	return rows.map((row) => ({
		...row,
		...unit.scope,
		...readRolesAndTenants(assignmentsByUser.get(row.id), placesByUser.get(row.id), withInstanceRoles),
	}));
}

export async function readUser(unit: ReadingUnit, row: User): Promise<UserRead> {
	return onlyRow(await readUsers(unit, [row]));
}

/** Converts a user that was just created from `body` to its API object. */
export async function readNewUser(unit: ReadingUnit, row: User, body: UserCreate): Promise<UserRead> {
	const { role_assignments = [] } = body;
	return role_assignments.length > 0
		? readUser(unit, row)
		: { ...row, ...unit.scope, ...readRolesAndTenants([], [], false) };
}

/** Adds a user with the roles in the body. Throws `duplicate`, or `not_found` for objects in its roles. */
export async function createUser(unit: WritingUnit, body: UserCreate): Promise<User> {
	const { key } = body;
	const user = await unit.create(User, { key, ...userColumns(body) }, key);
	await assignMany(unit, rolesFor(user, body));
	return user;
}

/**
 * Adds many users, each with the roles in its body. Throws like `createUser`, for the first key that is taken or
 * repeated.
 */
export async function createUsers(unit: WritingUnit, bodies: readonly UserCreate[]): Promise<void> {
	const bodyByKey = new Map(bodies.map((body) => [body.key, body]));
	const givenKeys = bodies.map(({ key }) => key);
	await refuseTakenKeys(unit, User, givenKeys);
	const users = await insertUsers(unit, bodies);
	const assigned = users.flatMap((user) => rolesFor(user, bodyByKey.get(user.key)));
	await assignMany(unit, assigned);
}

/**
 * Adds a user to a tenant. Creates the user unless a user with the body's key exists. An existing user stays unchanged,
 * except for new roles. Throws `not_found` for objects in its roles.
 */
export async function addUserToTenant(unit: WritingUnit, tenant: Tenant, body: UserCreate): Promise<User> {
	const existing = (await unit.findMany(User, [body.key])).get(body.key);
	const user = existing ?? (await createUser(unit, body));
	if (existing !== undefined) await assignMany(unit, rolesFor(user, body));
	await addTenantUser(unit, tenant, user);
	return user;
}

/**
 * Creates or replaces the user with this key. Resets missing fields. If the body has `role_assignments`, they replace
 * all the user's roles, in tenants and on resource instances. Otherwise the roles stay, because assignments are
 * separate objects.
 */
export async function syncUser(
	unit: WritingUnit,
	reference: string,
	body: UserReplace,
): Promise<{ readonly user: User; readonly created: boolean }> {
	const existing = (await unit.findMany(User, [reference])).get(reference);
	if (existing === undefined) {
		return { user: await createUser(unit, { ...body, key: reference }), created: true };
	}
	const user = await unit.update(User, existing, userColumns(body), existing.key);
	if (body.role_assignments !== undefined) await replaceAssignments(unit, [user.id], rolesFor(user, body));
	return { user, created: false };
}

/** Applies `syncUser` to each body. If a user is repeated, the last body applies. */
export async function syncUsers(unit: WritingUnit, bodies: readonly UserCreate[]): Promise<void> {
	const givenKeys = bodies.map(({ key }) => key);
	const found = await unit.findMany(User, givenKeys);
	const existing = new Map([...found.values()].map((user) => [user.id, user]));
	const last = lastOfEach(bodies, found);
	const changes = [...existing.values()].flatMap((row) => {
		const body = last.get(row.id);
		return body === undefined ? [] : [{ row, columns: userColumns(body) }];
	});
	await unit.updateMany(User, changes);
	const missing = [...last.values()].filter(({ key }) => !found.has(key));
	const created = await insertUsers(unit, missing);
	const written = [...existing.values(), ...created].map((user) => ({
		user,
		body: last.get(user.id) ?? last.get(user.key),
	}));
	const given = written.filter(({ body }) => body?.role_assignments !== undefined);
	await replaceAssignments(
		unit,
		given.map(({ user }) => user.id),
		given.flatMap(({ user, body }) => rolesFor(user, body)),
	);
}

/** Changes the passed user fields; null clears a field. */
export async function changeUser(unit: WritingUnit, user: User, body: UserUpdate): Promise<User> {
	const { email, first_name, last_name, attributes } = body;
	const columns = definedFields({ email, first_name, last_name, attributes: attributes === null ? {} : attributes });
	return unit.update(User, user, columns, user.key);
}

/** Deletes a user like `removeUsers`. */
export async function removeUser(unit: WritingUnit, user: User): Promise<void> {
	await removeUsers(unit, [user]);
}

/**
 * Deletes users, each once, with their roles, requests and tenant memberships. Does not rely on a database cascade, so
 * the change log contains each deletion.
 */
export async function removeUsers(unit: WritingUnit, users: readonly User[]): Promise<void> {
	const user_ids = users.map((user) => user.id);
	await removeAssignments(unit, { user_ids });
	await removeRequests(unit, { requesting_user_ids: user_ids });
	await removeTenantUsers(unit, { user_ids });
	await unit.removeMany(User, users, (user) => user.key);
}

function insertUsers(unit: WritingUnit, bodies: readonly UserCreate[]): Promise<readonly User[]> {
	const rows = bodies.map((body) => ({ key: body.key, ...userColumns(body) }));
	return unit.createMany(User, rows, (user) => user.key);
}

/**
 * Returns the last body for each user, keyed by id if the user exists, otherwise by key. If the last body has no roles,
 * the roles in an earlier body apply.
 */
function lastOfEach(bodies: readonly UserCreate[], found: ReadonlyMap<string, User>): ReadonlyMap<string, UserCreate> {
	const last = new Map<string, UserCreate>();
	for (const body of bodies) {
		const identity = found.get(body.key)?.id ?? body.key;
		const role_assignments = body.role_assignments ?? last.get(identity)?.role_assignments;
		last.set(identity, { ...body, role_assignments });
	}
	return last;
}

function rolesFor(user: User, { role_assignments = [] }: Pick<UserReplace, 'role_assignments'> = {}) {
	return role_assignments.map((role, index) => ({
		...role,
		user: user.id,
		place: ['body', 'role_assignments', index],
	}));
}

function userColumns({ email, first_name, last_name, attributes }: Omit<UserReplace, 'key'>) {
	return { email: email ?? null, first_name: first_name ?? null, last_name: last_name ?? null, attributes };
}

function readRolesAndTenants(
	held: readonly AssignmentRow[] = [],
	places: readonly TenantUserRow[] = [],
	withInstanceRoles: boolean,
) {
	const inTenant = groupBy(held, (assignment) => assignment.tenant);
	const tenants = new Set([...inTenant.keys(), ...places.map((place) => place.tenant)]);
	return {
		roles: held.filter(isTenantRole).map(({ role, tenant }) => ({ role, tenant })),
		associated_tenants: [...tenants].map((tenant) => {
			const here = inTenant.get(tenant) ?? [];
			return {
				tenant,
				roles: here.filter(isTenantRole).map((assignment) => assignment.role),
				status: 'active' as const,
				resource_instance_roles: withInstanceRoles ? here.flatMap(asInstanceRole) : [],
			};
		}),
	};
}

function isTenantRole({ resource_instance_id }: AssignmentRow): boolean {
	return resource_instance_id === null;
}

/**
 * Converts an assignment on an instance to its form in a user's API object. Returns an empty list for a tenant role.
 */
export function asInstanceRole(row: AssignmentRow) {
	const parts = instanceParts(row.resource_instance ?? '');
	if (parts === null) return [];
	return [{ resource_instance: parts.key, resource: parts.resource, role: row.role, condition: readCondition(row) }];
}
