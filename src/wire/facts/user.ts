import { z } from 'zod';
import { ComparedAttributes } from '../attributes.js';
import { boundedArray } from '../bounded.js';
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
} from '../common.js';
import { Email } from '../email.js';
import { named } from '../named.js';
import { Flag, pageShape, Search, SearchOperator } from '../query.js';
import { conditionShape, expiryShape, granting, removedConditionShape, shownCondition } from '../schema/granting.js';
import { idents, operations } from './bulk.js';

/** A role and its scope. The scope is a tenant or a resource instance. For an instance, the tenant may be omitted. */
export const roleShape = {
	role: Reference.describe('Role: id or key.'),
	tenant: optional(Reference).meta({ description: 'Required without `resource_instance`. An id (UUID) or a key.' }),
	resource_instance: optional(InstanceReference).describe(
		'Instance for the role: `<resource key>:<instance key>` or its ' +
			'id. Without it, the role applies to the whole tenant.',
	),
};

/** Role assignment fields in responses, in addition to `roleShape` and the user. */
const heldIds = ['user_id', 'role_id', 'tenant_id', 'resource_instance_id'];

/** Schema for a body that removes a role, with the fields of `roleShape`. Unknown fields are ignored. */
export function roleRemovalBody<S extends z.ZodRawShape & typeof roleShape>(shape: S) {
	return placed(z.object(shape));
}

/** Schema for a body that assigns a role, with the fields of `roleShape`. */
export function roleGrantBody<S extends z.ZodRawShape & typeof roleShape>(shape: S) {
	return placed(granting(shape, ['user', ...heldIds]));
}

/** Rejects a body that contains neither a tenant nor an instance. The problem reports the tenant as missing. */
function placed<S extends z.ZodType>(body: S) {
	const places = new Set<unknown>(['tenant', 'resource_instance', undefined]);
	return body.superRefine(
		(value, ctx) => {
			const { tenant, resource_instance } = value as { readonly [field: string]: unknown };
			if (tenant !== undefined || resource_instance !== undefined) return;
			ctx.addIssue({ code: 'invalid_type', expected: 'string', path: ['tenant'], input: undefined });
		},
		// Report this problem together with the other problems, unless one of these fields already has a problem.
		{
			when: ({ issues }) => issues.every(({ code, path }) => code === 'unrecognized_keys' || !places.has(path?.[0])),
		},
	);
}

export const UserRoleCreate = roleGrantBody({ ...roleShape, ...expiryShape, ...conditionShape }).meta({
	id: 'UserRoleCreate',
	description: 'A role to assign to the user in the path.',
});

export const UserRoleRemove = roleRemovalBody({ ...roleShape, ...removedConditionShape }).meta({
	id: 'UserRoleRemove',
	description: 'The role to remove from the user in the path.',
});

const described = {
	email: optional(Email).describe('E-mail address. Null counts as absent.'),
	first_name: optional(Name).describe('First name. Null counts as absent.'),
	last_name: optional(Name).describe('Last name. Null counts as absent.'),
	attributes: defaulted(ComparedAttributes, () => ({})).describe(
		'Attributes for conditions to compare; none by default.',
	),
	role_assignments: optional(boundedArray(UserRoleCreate)).describe(
		'Roles to assign, in tenants or on instances. Null counts as absent.',
	),
};

export const UserCreate = named('UserCreate', 'A new user, with initial roles.', {
	key: UserKey.describe('User key, as used in checks.'),
	...described,
});
export type UserCreate = z.output<typeof UserCreate>;

export const UserReplace = named(
	'UserReplace',
	"A complete user. The path identifies the user, so the body's `key` may be omitted; other missing fields are reset.",
	{
		key: optional(UserKey).describe('User key; optional, because the path identifies the user.'),
		...described,
	},
);
export type UserReplace = z.output<typeof UserReplace>;

export const UserUpdate = named('UserUpdate', 'User fields to change; `attributes` are replaced as a whole.', {
	email: clearable(Email).describe('E-mail address; null clears it.'),
	first_name: clearable(Name).describe('First name; null clears it.'),
	last_name: clearable(Name).describe('Last name; null clears it.'),
	attributes: clearable(ComparedAttributes).describe('Complete new attributes; null clears them.'),
});
export type UserUpdate = z.output<typeof UserUpdate>;

/**
 * Maximum number of users per bulk call. The number is limited because each call is one unit of work, which blocks
 * other writes to the environment.
 */
export const maxBulkUsers = 3000;

export const UserBulkCreate = operations(UserCreate, maxBulkUsers, 'users').meta({
	id: 'UserCreateBulkOperation',
	description: 'Users to create.',
});

export const UserBulkReplace = operations(UserCreate, maxBulkUsers, 'users').meta({
	id: 'UserReplaceBulkOperation',
	description: 'Users to create or replace, each identified only by key.',
});

export const UserBulkRemove = idents(maxBulkUsers, 'users').meta({
	id: 'UserDeleteBulkOperation',
	description: 'Users to delete.',
});

/** Filters for the users in an environment or a tenant. */
export const UserQuery = z.object({
	search: Search.describe('Part of the key, name or e-mail address; with `*`, a pattern for the whole value.'),
	search_operator: SearchOperator,
	role: Reference.optional().describe('Only users with this tenant role: id or key.'),
	include_resource_instance_roles: Flag.describe('Include roles on instances, also when filtering by `role`.'),
	...pageShape,
});
export type UserQuery = z.output<typeof UserQuery>;

export const UserRole = named('UserRole', "A user's role in a tenant; both by key.", {
	role: z.string().describe('Role key.'),
	tenant: z.string().describe('Tenant key.'),
});

export const UserInTenant = named('UserInTenant', 'User membership in one tenant.', {
	tenant: z.string().describe('Tenant key.'),
	roles: z.array(z.string()).describe('Role keys held in the tenant.'),
	status: z
		.enum(['active', 'pending'])
		.describe('`active`; `pending` for a user invited in an element who has not approved yet.'),
	resource_instance_roles: z
		.array(
			z.object({
				resource_instance: z.string().describe('Instance key.'),
				resource: z.string().describe('Resource key.'),
				role: z.string().describe('Role key.'),
				...shownCondition,
			}),
		)
		.default([])
		.describe(
			'Roles assigned on instances in the tenant; present only if requested. A role with `condition` applies only ' +
				'while the condition holds.',
		),
});

export const UserRead = named('UserRead', 'A user with their tenant roles.', {
	...environmentObject,
	key: z.string().describe('User key, as used in checks.'),
	email: z.string().nullable().describe('E-mail address.'),
	first_name: z.string().nullable().describe('First name.'),
	last_name: z.string().nullable().describe('Last name.'),
	attributes: StoredObject.describe('User attributes for conditions.'),
	roles: z.array(UserRole).describe('Tenant roles.'),
	associated_tenants: z.array(UserInTenant).describe('Tenants that the user belongs to.'),
});
export type UserRead = z.input<typeof UserRead>;
