import { z } from 'zod';
import { ComparedAttributes } from './attributes.js';
import { boundedArray } from './bounded.js';
import { idents, operations } from './bulk.js';
import {
	clearable,
	defaulted,
	environmentObject,
	InstanceReference,
	Name,
	optional,
	Reference,
	StoredObject,
	UserKey,
} from './common.js';
import { Email } from './email.js';
import { expiryShape, granting } from './granting.js';
import { Flag, pageShape, Search } from './query.js';

/** A role and where it is held: in a tenant, or on a resource instance, whose tenant need not be named. */
export const roleShape = {
	role: Reference,
	tenant: optional(Reference).meta({ description: 'Required without `resource_instance`. An id (UUID) or a key.' }),
	resource_instance: optional(InstanceReference),
};

/** The members of a role assignment in answers, besides those of `roleShape` and the user. */
const heldIds = ['user_id', 'role_id', 'tenant_id', 'resource_instance_id'];

/** Bodies with the members of `roleShape` that take a role away; unknown members are ignored. */
export function roleRemovalBody<S extends z.ZodRawShape & typeof roleShape>(shape: S) {
	return placed(z.object(shape));
}

/** Bodies with the members of `roleShape` that give a role. */
export function roleGrantBody<S extends z.ZodRawShape & typeof roleShape>(shape: S) {
	return placed(granting(shape, ['user', ...heldIds]));
}

/** Refuses a body that names neither a tenant nor an instance: its tenant is missing. */
function placed<S extends z.ZodType>(body: S) {
	const places = new Set<unknown>(['tenant', 'resource_instance', undefined]);
	return body.superRefine(
		(value, ctx) => {
			const { tenant, resource_instance } = value as { readonly [field: string]: unknown };
			if (tenant !== undefined || resource_instance !== undefined) return;
			ctx.addIssue({ code: 'invalid_type', expected: 'string', path: ['tenant'], input: undefined });
		},
		// Reported besides other problems, unless one of these fields has one already.
		{
			when: ({ issues }) => issues.every(({ code, path }) => code === 'unrecognized_keys' || !places.has(path?.[0])),
		},
	);
}

/** A role to give to the user in the path. */
export const UserRoleCreate = roleGrantBody({ ...roleShape, ...expiryShape }).meta({ id: 'UserRoleCreate' });
export type UserRoleCreate = z.output<typeof UserRoleCreate>;

/** The role to take from the user in the path. */
export const UserRoleRemove = roleRemovalBody(roleShape).meta({ id: 'UserRoleRemove' });
export type UserRoleRemove = z.output<typeof UserRoleRemove>;

const described = {
	email: optional(Email),
	first_name: optional(Name),
	last_name: optional(Name),
	attributes: defaulted(ComparedAttributes, () => ({})),
	role_assignments: optional(boundedArray(UserRoleCreate)),
};

/** A new user, with its first roles. */
export const UserCreate = z.object({ key: UserKey, ...described }).meta({ id: 'UserCreate' });
export type UserCreate = z.output<typeof UserCreate>;

/** A complete user. The path names it, so the body's `key` may be missing; other missing fields are reset. */
export const UserReplace = z.object({ key: optional(UserKey), ...described }).meta({ id: 'UserReplace' });
export type UserReplace = z.output<typeof UserReplace>;

/** The fields of a user that may change; `attributes` are replaced as a whole. */
export const UserUpdate = z
	.object({
		email: clearable(Email),
		first_name: clearable(Name),
		last_name: clearable(Name),
		attributes: clearable(ComparedAttributes),
	})
	.meta({ id: 'UserUpdate' });
export type UserUpdate = z.output<typeof UserUpdate>;

/** The most users of one bulk call. Each call is one unit, and no other write to the environment runs meanwhile. */
export const maxBulkUsers = 3000;

/** Many new users. */
export const UserBulkCreate = operations(UserCreate, maxBulkUsers, 'users').meta({ id: 'UserCreateBulkOperation' });
export type UserBulkCreate = z.output<typeof UserBulkCreate>;

/** Many users to create or replace, each named by nothing but its key. */
export const UserBulkReplace = operations(UserCreate, maxBulkUsers, 'users').meta({ id: 'UserReplaceBulkOperation' });
export type UserBulkReplace = z.output<typeof UserBulkReplace>;

/** Many users to delete. */
export const UserBulkRemove = idents(maxBulkUsers, 'users').meta({ id: 'UserDeleteBulkOperation' });
export type UserBulkRemove = z.output<typeof UserBulkRemove>;

/** Which users a list asks for: of an environment, or of a tenant. */
export const UserQuery = z.object({
	search: Search,
	role: Reference.optional(),
	include_resource_instance_roles: Flag,
	...pageShape,
});
export type UserQuery = z.output<typeof UserQuery>;

/** A role a user has in a tenant; both by key. */
export const UserRole = z.object({ role: z.string(), tenant: z.string() }).meta({ id: 'UserRole' });
export type UserRole = z.input<typeof UserRole>;

/** What a user is in one tenant. */
export const UserInTenant = z
	.object({
		tenant: z.string(),
		roles: z.array(z.string()),
		status: z.enum(['active', 'pending']),
		resource_instance_roles: z
			.array(z.object({ resource_instance: z.string(), resource: z.string(), role: z.string() }))
			.default([]),
	})
	.meta({ id: 'UserInTenant' });
export type UserInTenant = z.input<typeof UserInTenant>;

/** A user with its tenant roles. */
export const UserRead = z
	.object({
		...environmentObject,
		key: z.string(),
		email: z.string().nullable(),
		first_name: z.string().nullable(),
		last_name: z.string().nullable(),
		attributes: StoredObject,
		roles: z.array(UserRole),
		associated_tenants: z.array(UserInTenant),
	})
	.meta({ id: 'UserRead' });
export type UserRead = z.input<typeof UserRead>;
