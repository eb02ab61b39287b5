import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import {
	AlwaysNull,
	Attributes,
	clearable,
	defaulted,
	environmentObject,
	Key,
	Name,
	optional,
	Reference,
	StoredObject,
	Text,
	unserved,
} from '../common.js';
import { operations } from '../facts/bulk.js';
import { arrayOrPaginated } from '../list.js';
import { Flag, pageShape, Search, withAttributeFilters } from '../query.js';
import { DerivedRoleBlockEdit } from './derivation.js';
import { granting } from './granting.js';

/** `<resource>:<action>`, or the id of an action, which the handler looks up. */
export const Permission = Reference.meta({
	description: '`<resource key>:<action key>`, or the id of an action.',
	example: 'document:read',
});

const notDerived = 'must be left out: only roles of resources are derived, because they are held on instances';
const derivation = unserved(notDerived, 'Nothing: only roles of resources are derived.');

const described = {
	key: Key.describe('The key, unique among the tenant roles of the environment.'),
	name: Name.describe('A name for people.'),
	description: optional(Text).describe('What the role is for. Null counts as absent.'),
	permissions: defaulted(boundedArray(Permission), () => []).describe('What it grants; nothing when left out.'),
	attributes: optional(Attributes).describe('Any data of your own. Null counts as absent.'),
	extends: defaulted(boundedArray(Reference), () => []).describe(
		'The roles whose permissions it has as well (ids or keys); none when left out.',
	),
};

/** A new tenant role. */
export const RoleCreate = z
	.object({ ...described, granted_to: derivation })
	.meta({ id: 'RoleCreate', description: 'A new tenant role.' });
export type RoleCreate = z.output<typeof RoleCreate>;

/** The fields of a role that may change; `permissions`, `extends` and `attributes` are replaced as a whole. */
export const RoleUpdate = z
	.object({
		name: optional(Name).describe('A new name. Null counts as absent.'),
		description: clearable(Text).describe('What the role is for; null clears it.'),
		permissions: optional(boundedArray(Permission)).describe('All that it grants from now on. Null counts as absent.'),
		attributes: clearable(Attributes).describe('Any data of your own, which replaces what is stored; null clears it.'),
		extends: optional(boundedArray(Reference)).describe(
			'All roles that it extends from now on (ids or keys). Null counts as absent.',
		),
		granted_to: derivation,
	})
	.meta({
		id: 'RoleUpdate',
		description:
			'The fields of a role that may change; `permissions`, `extends` and `attributes` are replaced as a whole.',
	});
export type RoleUpdate = z.output<typeof RoleUpdate>;

/** The members of a role of either kind in answers, except its permissions. */
export const roleAnswerMembers = [
	'key',
	'name',
	'description',
	'resource',
	'resource_id',
	'extends',
	'attributes',
	'granted_to',
	'v1compat_settings',
	'v1compat_attributes',
];
const permissions = {
	permissions: boundedArray(Permission).describe('Permissions: `<resource key>:<action key>`, or ids of actions.'),
};

/** Permissions to give to a role. */
export const RolePermissions = granting(permissions, roleAnswerMembers).meta({
	id: 'RolePermissions',
	description: 'Permissions to give to a role.',
});
export type RolePermissions = z.output<typeof RolePermissions>;

/** Permissions to take from a role. */
export const RolePermissionsRemove = z
	.object(permissions)
	.meta({ id: 'RolePermissionsRemove', description: 'Permissions to take from a role.' });
export type RolePermissionsRemove = z.output<typeof RolePermissionsRemove>;

/** The most roles of one bulk call. Each call is one unit, and no other write to the environment runs meanwhile. */
export const maxBulkRoles = 1000;

/** A complete role: a tenant role, or with `resource` one of that resource. Missing fields are reset. */
export const RoleReplace = z
	.object({
		...described,
		resource: optional(Reference).describe('The resource of the role, by id or key; a tenant role when left out.'),
		granted_to: optional(DerivedRoleBlockEdit).describe(
			'From which roles on related instances a role of a resource is derived; from none when left out.',
		),
	})
	.superRefine(({ resource, granted_to }, ctx) => {
		const { users_with_role = [], when } = granted_to ?? {};
		if (resource !== undefined || (users_with_role.length === 0 && !when?.no_direct_roles_on_object)) return;
		ctx.addIssue({ code: 'custom', message: notDerived, path: ['granted_to'], input: granted_to });
	})
	.meta({
		id: 'RoleReplace',
		description: 'A complete role: a tenant role, or with `resource` one of that resource. Missing fields are reset.',
	});
export type RoleReplace = z.output<typeof RoleReplace>;

/** Many roles to create or replace. */
export const RoleBulkReplace = operations(RoleReplace, maxBulkRoles, 'roles').meta({
	id: 'RoleReplaceBulkOperation',
	description: 'Many roles to create or replace.',
});
export type RoleBulkReplace = z.output<typeof RoleBulkReplace>;

/** The keys of the roles that a bulk call created, and of those that existed before. */
export const RoleBulkRead = z
	.object({
		created: z.array(z.string()).describe('The keys of the roles that were created.'),
		updated: z.array(z.string()).describe('The keys of the roles that existed, whether anything changed or not.'),
	})
	.meta({
		id: 'RoleBulkReport',
		description: 'The keys of the roles that a bulk call created, and of those that existed before.',
	});
export type RoleBulkRead = z.input<typeof RoleBulkRead>;

/** Which roles a list asks for. */
export const RoleQuery = withAttributeFilters({
	include_total_count: Flag.describe(
		'Answer an object with `data`, `total_count` and `page_count` in place of a plain array.',
	),
	search: Search,
	...pageShape,
});
export type RoleQuery = z.output<typeof RoleQuery>;

/** A tenant role; `permissions` are its own, `extends` the keys of the roles whose permissions it has as well. */
export const RoleRead = z
	.object({
		...environmentObject,
		key: z.string().describe('The key, unique among the tenant roles of the environment.'),
		name: z.string().describe('A name for people.'),
		description: z.string().nullable().describe('What the role is for.'),
		permissions: z.array(z.string()).describe('What it grants itself, as `<resource key>:<action key>`.'),
		extends: z.array(z.string()).describe('The keys of the roles whose permissions it has as well.'),
		attributes: StoredObject.nullable().describe('Any data of your own.'),
		granted_to: AlwaysNull,
		v1compat_settings: AlwaysNull,
		v1compat_attributes: AlwaysNull,
	})
	.meta({
		id: 'RoleRead',
		description:
			'A tenant role; `permissions` are its own, `extends` the keys of the roles whose permissions it has as well.',
	});
export type RoleRead = z.input<typeof RoleRead>;

/** How much of a role's ancestors or descendants is asked for: all of them, or a page with the counts of the whole. */
export const RoleHierarchyQuery = z.object({
	include_total_count: Flag.describe(
		'Answer a page with `data`, `total_count` and `page_count` in place of all roles.',
	),
	...pageShape,
});
export type RoleHierarchyQuery = z.output<typeof RoleHierarchyQuery>;

/** Roles above or below another one. */
export function hierarchySchema<S extends z.ZodType>(role: S) {
	return z.object({
		roles: arrayOrPaginated(role).describe('All of them, oldest first; with `include_total_count` one page.'),
	});
}

/** The roles that a tenant role extends, or that extend it. */
export const RoleHierarchyRead = hierarchySchema(RoleRead).meta({
	id: 'RoleHierarchyRead',
	description: 'The roles that a tenant role extends, or that extend it.',
});
