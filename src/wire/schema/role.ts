import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import {
	AlwaysNull,
	Attributes,
	clearable,
	defaulted,
	optional,
	Reference,
	StoredObject,
	unserved,
} from '../common.js';
import { operations } from '../facts/bulk.js';
import { arrayOrPaginated } from '../list.js';
import { changedFields, describedFields, named, namedObject } from '../named.js';
import { Flag, pageShape, Search, TotalCountFlag, withAttributeFilters } from '../query.js';
import { DerivedRoleBlockEdit } from './derivation.js';
import { GrantableTo } from './grantable-to.js';
import { granting } from './granting.js';
import { ComputedRole } from './role-expression.js';

/** Permission: `<resource>:<action>`, or an action id. The handler looks it up. */
export const Permission = Reference.meta({
	description: '`<resource key>:<action key>`, or an action id.',
	example: 'document:read',
});

const notDerived = 'must be omitted: only resource roles can be derived, because they are held on instances';
const derivation = unserved(notDerived, 'Must be empty: only resource roles are derived.');
const notComputed = 'must be omitted: only resource roles can be computed, because they are held on instances';
const expression = unserved(notComputed, 'Must be empty: only resource roles are computed.');

const forInstances = 'must be omitted: only resource roles can be assigned to everyone';
const isPublic = unserved(forInstances, 'Must be empty: only resource roles can be assigned to everyone.');
const notConditional = 'must be omitted: only resource roles can be assigned under conditions';
const noConditions = optional(boundedArray(z.string(), 0, notConditional)).describe(
	'Must be empty: only resource roles can be assigned under conditions.',
);

const notGrantable = 'must be omitted: only resource roles can be assigned to sets of users';
const grantable = unserved(notGrantable, 'Must be empty: only resource roles can be assigned to sets of users.');

const described = {
	...describedFields('Role', 'tenant roles in the environment'),
	permissions: defaulted(boundedArray(Permission), () => []).describe('Granted permissions; none by default.'),
	attributes: optional(Attributes).describe('Custom data. Null counts as absent.'),
	extends: defaulted(boundedArray(Reference), () => []).describe(
		'Roles whose permissions the role inherits (ids or keys); none by default.',
	),
};

export const RoleCreate = named('RoleCreate', 'A new tenant role.', {
	...described,
	granted_to: derivation,
	public: isPublic,
	grantable_to: grantable,
	computed: expression,
	grant_conditions: noConditions,
});

export const RoleUpdate = named(
	'RoleUpdate',
	'Role fields to change; `permissions`, `extends` and `attributes` are replaced as a whole.',
	{
		...changedFields('Role'),
		permissions: optional(boundedArray(Permission)).describe('Complete new permission list. Null counts as absent.'),
		attributes: clearable(Attributes).describe('Custom data, which replaces the stored data; null clears it.'),
		extends: optional(boundedArray(Reference)).describe(
			'Complete new list of extended roles (ids or keys). Null counts as absent.',
		),
		granted_to: derivation,
		public: isPublic,
		grantable_to: grantable,
		computed: expression,
		grant_conditions: noConditions,
	},
);

/** Response fields that tenant roles and resource roles have, except permissions. */
export const roleAnswerMembers = [
	'key',
	'name',
	'description',
	'resource',
	'resource_id',
	'extends',
	'attributes',
	'granted_to',
	'grant_conditions',
	'v1compat_settings',
	'v1compat_attributes',
];
const permissions = {
	permissions: boundedArray(Permission).describe('Permissions: `<resource key>:<action key>`, or action ids.'),
};

export const RolePermissions = granting(permissions, roleAnswerMembers).meta({
	id: 'RolePermissions',
	description: 'Permissions to add to a role.',
});

export const RolePermissionsRemove = named('RolePermissionsRemove', 'Permissions to remove from a role.', permissions);

/**
 * Maximum number of roles per bulk call. The number is limited because each call is one unit of work, which blocks
 * other writes to the environment.
 */
export const maxBulkRoles = 1000;

export const RoleReplace = z
	.object({
		...described,
		resource: optional(Reference).describe('Resource of the role, by id or key; omit for a tenant role.'),
		granted_to: optional(DerivedRoleBlockEdit).describe(
			'Derivations for a resource role from roles on related instances; none by default.',
		),
		public: optional(z.boolean()).describe(
			'True if the resource role can be assigned to everyone, by the user key `*`; false by default.',
		),
		grantable_to: optional(boundedArray(GrantableTo)).describe(
			'Sets of users to which the resource role can be assigned; none by default. Null counts as absent.',
		),
		computed: optional(ComputedRole).describe('Expression of a computed resource role. Null counts as absent.'),
		grant_conditions: defaulted(boundedArray(Reference), () => []).describe(
			'Condition sets under which a resource role may be assigned (ids or keys); none by default.',
		),
	})
	.superRefine(({ resource, granted_to, public: open, grantable_to, computed, grant_conditions }, ctx) => {
		if (resource === undefined && grant_conditions.length > 0) {
			ctx.addIssue({ code: 'custom', message: notConditional, path: ['grant_conditions'], input: grant_conditions });
		}
		if (resource === undefined && open) {
			ctx.addIssue({ code: 'custom', message: forInstances, path: ['public'], input: open });
		}
		if (resource === undefined && grantable_to !== undefined && grantable_to.length > 0) {
			ctx.addIssue({ code: 'custom', message: notGrantable, path: ['grantable_to'], input: grantable_to });
		}
		if (resource === undefined && computed !== undefined) {
			ctx.addIssue({ code: 'custom', message: notComputed, path: ['computed'], input: computed });
		}
		const { users_with_role = [], when } = granted_to ?? {};
		if (resource !== undefined || (users_with_role.length === 0 && !when?.no_direct_roles_on_object)) return;
		ctx.addIssue({ code: 'custom', message: notDerived, path: ['granted_to'], input: granted_to });
	})
	.meta({
		id: 'RoleReplace',
		description:
			'A complete role: a resource role if `resource` is set, otherwise a tenant role. Missing fields are reset.',
	});
export type RoleReplace = z.output<typeof RoleReplace>;

export const RoleBulkReplace = operations(RoleReplace, maxBulkRoles, 'roles').meta({
	id: 'RoleReplaceBulkOperation',
	description: 'Roles to create or replace.',
});

export const RoleBulkRead = named(
	'RoleBulkReport',
	'Keys of the created roles, and of the roles that already existed.',
	{
		created: z.array(z.string()).describe('Created role keys.'),
		updated: z.array(z.string()).describe('Keys of the roles that already existed, changed or not.'),
	},
);
export type RoleBulkRead = z.input<typeof RoleBulkRead>;

export const RoleQuery = withAttributeFilters({
	include_total_count: TotalCountFlag,
	search: Search,
	...pageShape,
});

export const RoleRead = named(
	'RoleRead',
	'A tenant role; `permissions` are its own, and `extends` contains keys of roles whose permissions it inherits.',
	{
		...namedObject('tenant roles in the environment'),
		description: z.string().nullable().describe('Role description.'),
		permissions: z
			.array(z.string())
			.describe('Permissions granted by the role itself, as `<resource key>:<action key>`.'),
		extends: z.array(z.string()).describe('Keys of roles whose permissions the role inherits.'),
		attributes: StoredObject.nullable().describe('Custom data.'),
		granted_to: AlwaysNull,
		v1compat_settings: AlwaysNull,
		v1compat_attributes: AlwaysNull,
	},
);
export type RoleRead = z.input<typeof RoleRead>;

/** Query for a role's ancestors or descendants. The response contains all roles, or a page with total counts. */
export const RoleHierarchyQuery = z.object({
	include_total_count: Flag.describe('Return a page with `data`, `total_count` and `page_count` instead of all roles.'),
	...pageShape,
});

/** Ancestors or descendants of a role. */
export function hierarchySchema<S extends z.ZodType>(role: S) {
	return z.object({
		roles: arrayOrPaginated(role).describe('All roles, oldest first; a single page with `include_total_count`.'),
	});
}

export const RoleHierarchyRead = hierarchySchema(RoleRead).meta({
	id: 'RoleHierarchyRead',
	description: 'Ancestors or descendants of a tenant role in the `extends` hierarchy.',
});
