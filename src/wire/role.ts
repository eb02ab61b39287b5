import { z } from 'zod';
import { boundedArray } from './bounded.js';
import { operations } from './bulk.js';
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
} from './common.js';
import { DerivedRoleBlockEdit } from './derivation.js';
import { granting } from './granting.js';
import { arrayOrPaginated } from './list.js';
import { Flag, pageShape, Search, withAttributeFilters } from './query.js';

/** `<resource>:<action>`, or the id of an action, which the handler looks up. */
export const Permission = Reference.meta({
	description: '`<resource key>:<action key>`, or the id of an action.',
	example: 'document:read',
});

const notDerived = 'must be left out: only roles of resources are derived, because they are held on instances';
const derivation = unserved(notDerived, 'Nothing: only roles of resources are derived.');

const described = {
	key: Key,
	name: Name,
	description: optional(Text),
	permissions: defaulted(boundedArray(Permission), () => []),
	attributes: optional(Attributes),
	extends: defaulted(boundedArray(Reference), () => []),
};

/** A new tenant role. */
export const RoleCreate = z.object({ ...described, granted_to: derivation }).meta({ id: 'RoleCreate' });
export type RoleCreate = z.output<typeof RoleCreate>;

/** The fields of a role that may change; `permissions`, `extends` and `attributes` are replaced as a whole. */
export const RoleUpdate = z
	.object({
		name: optional(Name),
		description: clearable(Text),
		permissions: optional(boundedArray(Permission)),
		attributes: clearable(Attributes),
		extends: optional(boundedArray(Reference)),
		granted_to: derivation,
	})
	.meta({ id: 'RoleUpdate' });
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
const permissions = { permissions: boundedArray(Permission) };

/** Permissions to give to a role. */
export const RolePermissions = granting(permissions, roleAnswerMembers).meta({ id: 'RolePermissions' });
export type RolePermissions = z.output<typeof RolePermissions>;

/** Permissions to take from a role. */
export const RolePermissionsRemove = z.object(permissions).meta({ id: 'RolePermissionsRemove' });
export type RolePermissionsRemove = z.output<typeof RolePermissionsRemove>;

/** The most roles of one bulk call. Each call is one unit, and no other write to the environment runs meanwhile. */
export const maxBulkRoles = 1000;

/** A complete role: a tenant role, or with `resource` one of that resource. Missing fields are reset. */
export const RoleReplace = z
	.object({ ...described, resource: optional(Reference), granted_to: optional(DerivedRoleBlockEdit) })
	.superRefine(({ resource, granted_to }, ctx) => {
		const { users_with_role = [], when } = granted_to ?? {};
		if (resource !== undefined || (users_with_role.length === 0 && !when?.no_direct_roles_on_object)) return;
		ctx.addIssue({ code: 'custom', message: notDerived, path: ['granted_to'], input: granted_to });
	})
	.meta({ id: 'RoleReplace' });
export type RoleReplace = z.output<typeof RoleReplace>;

/** Many roles to create or replace. */
export const RoleBulkReplace = operations(RoleReplace, maxBulkRoles, 'roles').meta({
	id: 'RoleReplaceBulkOperation',
});
export type RoleBulkReplace = z.output<typeof RoleBulkReplace>;

/** The keys of the roles that a bulk call created, and of those that existed before. */
export const RoleBulkRead = z
	.object({ created: z.array(z.string()), updated: z.array(z.string()) })
	.meta({ id: 'RoleBulkReport' });
export type RoleBulkRead = z.input<typeof RoleBulkRead>;

/** Which roles a list asks for. */
export const RoleQuery = withAttributeFilters({ include_total_count: Flag, search: Search, ...pageShape });
export type RoleQuery = z.output<typeof RoleQuery>;

/** A tenant role; `permissions` are its own, `extends` the keys of the roles whose permissions it has as well. */
export const RoleRead = z
	.object({
		...environmentObject,
		key: z.string(),
		name: z.string(),
		description: z.string().nullable(),
		permissions: z.array(z.string()),
		extends: z.array(z.string()),
		attributes: StoredObject.nullable(),
		granted_to: AlwaysNull,
		v1compat_settings: AlwaysNull,
		v1compat_attributes: AlwaysNull,
	})
	.meta({ id: 'RoleRead' });
export type RoleRead = z.input<typeof RoleRead>;

/** How much of a role's ancestors or descendants is asked for: all of them, or a page with the counts of the whole. */
export const RoleHierarchyQuery = z.object({ include_total_count: Flag, ...pageShape });
export type RoleHierarchyQuery = z.output<typeof RoleHierarchyQuery>;

/** Roles above or below another one. */
export function hierarchySchema<S extends z.ZodType>(role: S) {
	return z.object({ roles: arrayOrPaginated(role) });
}

/** The roles that a tenant role extends, or that extend it. */
export const RoleHierarchyRead = hierarchySchema(RoleRead).meta({ id: 'RoleHierarchyRead' });
