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
import { Flag, pageShape, Search, SearchOperator } from '../query.js';
import { expiryShape, granting } from '../schema/granting.js';
import { idents, operations } from './bulk.js';

/** A role and where it is held: in a tenant, or on a resource instance, whose tenant need not be named. */
export const roleShape = {
	role: Reference.describe('The role: its id or key.'),
	tenant: optional(Reference).meta({ description: 'Required without `resource_instance`. An id (UUID) or a key.' }),
	resource_instance: optional(InstanceReference).describe(
		'The instance on which the role is held: `<resource key>:<instance key>` or its id. Without it, the role is ' +
			'held in the tenant.',
	),
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
export const UserRoleCreate = roleGrantBody({ ...roleShape, ...expiryShape }).meta({
	id: 'UserRoleCreate',
	description: 'A role to give to the user in the path.',
});
export type UserRoleCreate = z.output<typeof UserRoleCreate>;

/** The role to take from the user in the path. */
export const UserRoleRemove = roleRemovalBody(roleShape).meta({
	id: 'UserRoleRemove',
	description: 'The role to take from the user in the path.',
});
export type UserRoleRemove = z.output<typeof UserRoleRemove>;

const described = {
	email: optional(Email).describe('The e-mail address. Null counts as absent.'),
	first_name: optional(Name).describe('The first name. Null counts as absent.'),
	last_name: optional(Name).describe('The last name. Null counts as absent.'),
	attributes: defaulted(ComparedAttributes, () => ({})).describe(
		'Attributes for conditions to compare; none when left out.',
	),
	role_assignments: optional(boundedArray(UserRoleCreate)).describe(
		'Roles that the user gets, in tenants or on instances. Null counts as absent.',
	),
};

/** A new user, with its first roles. */
export const UserCreate = z
	.object({ key: UserKey.describe('The key of the user, which checks name.'), ...described })
	.meta({ id: 'UserCreate', description: 'A new user, with its first roles.' });
export type UserCreate = z.output<typeof UserCreate>;

/** A complete user. The path names it, so the body's `key` may be missing; other missing fields are reset. */
export const UserReplace = z
	.object({
		key: optional(UserKey).describe('The key of the user; may be left out, because the path names it.'),
		...described,
	})
	.meta({
		id: 'UserReplace',
		description:
			"A complete user. The path names it, so the body's `key` may be missing; other missing fields are reset.",
	});
export type UserReplace = z.output<typeof UserReplace>;

/** The fields of a user that may change; `attributes` are replaced as a whole. */
export const UserUpdate = z
	.object({
		email: clearable(Email).describe('The e-mail address; null clears it.'),
		first_name: clearable(Name).describe('The first name; null clears it.'),
		last_name: clearable(Name).describe('The last name; null clears it.'),
		attributes: clearable(ComparedAttributes).describe('All attributes from now on; null clears them.'),
	})
	.meta({
		id: 'UserUpdate',
		description: 'The fields of a user that may change; `attributes` are replaced as a whole.',
	});
export type UserUpdate = z.output<typeof UserUpdate>;

/** The most users of one bulk call. Each call is one unit, and no other write to the environment runs meanwhile. */
export const maxBulkUsers = 3000;

/** Many new users. */
export const UserBulkCreate = operations(UserCreate, maxBulkUsers, 'users').meta({
	id: 'UserCreateBulkOperation',
	description: 'Many new users.',
});
export type UserBulkCreate = z.output<typeof UserBulkCreate>;

/** Many users to create or replace, each named by nothing but its key. */
export const UserBulkReplace = operations(UserCreate, maxBulkUsers, 'users').meta({
	id: 'UserReplaceBulkOperation',
	description: 'Many users to create or replace, each named by nothing but its key.',
});
export type UserBulkReplace = z.output<typeof UserBulkReplace>;

/** Many users to delete. */
export const UserBulkRemove = idents(maxBulkUsers, 'users').meta({
	id: 'UserDeleteBulkOperation',
	description: 'Many users to delete.',
});
export type UserBulkRemove = z.output<typeof UserBulkRemove>;

/** Which users a list asks for: of an environment, or of a tenant. */
export const UserQuery = z.object({
	search: Search.describe('Part of the key, the name or the e-mail address; with `*` a pattern for the whole.'),
	search_operator: SearchOperator,
	role: Reference.optional().describe('Only users with this role in a tenant: its id or key.'),
	include_resource_instance_roles: Flag.describe('Show roles on instances as well, and let `role` find them.'),
	...pageShape,
});
export type UserQuery = z.output<typeof UserQuery>;

/** A role a user has in a tenant; both by key. */
export const UserRole = z
	.object({ role: z.string().describe('The key of the role.'), tenant: z.string().describe('The key of the tenant.') })
	.meta({ id: 'UserRole', description: 'A role a user has in a tenant; both by key.' });
export type UserRole = z.input<typeof UserRole>;

/** What a user is in one tenant. */
export const UserInTenant = z
	.object({
		tenant: z.string().describe('The key of the tenant.'),
		roles: z.array(z.string()).describe('The keys of the roles held in the tenant.'),
		status: z
			.enum(['active', 'pending'])
			.describe('`active`; `pending` for who is invited in an element and has not approved yet.'),
		resource_instance_roles: z
			.array(
				z.object({
					resource_instance: z.string().describe('The key of the instance.'),
					resource: z.string().describe('The key of its resource.'),
					role: z.string().describe('The key of the role.'),
				}),
			)
			.default([])
			.describe('Roles held on instances of the tenant; only where they were asked for.'),
	})
	.meta({ id: 'UserInTenant', description: 'What a user is in one tenant.' });
export type UserInTenant = z.input<typeof UserInTenant>;

/** A user with its tenant roles. */
export const UserRead = z
	.object({
		...environmentObject,
		key: z.string().describe('The key of the user, which checks name.'),
		email: z.string().nullable().describe('The e-mail address.'),
		first_name: z.string().nullable().describe('The first name.'),
		last_name: z.string().nullable().describe('The last name.'),
		attributes: StoredObject.describe("The user's attributes, which conditions compare."),
		roles: z.array(UserRole).describe('The tenant roles of the user.'),
		associated_tenants: z.array(UserInTenant).describe('The tenants that the user is a member of.'),
	})
	.meta({ id: 'UserRead', description: 'A user with its tenant roles.' });
export type UserRead = z.input<typeof UserRead>;
