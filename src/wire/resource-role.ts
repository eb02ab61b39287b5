import { z } from 'zod';
import { boundedArray } from './bounded.js';
import {
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
	Uuid,
} from './common.js';
import { DerivedRoleBlockEdit, DerivedRoleBlockRead } from './derivation.js';
import { granting } from './granting.js';
import { hierarchySchema, roleAnswerMembers } from './role.js';

/** A permission of a role of a resource: an action of that resource, which the handler looks up. */
export const ResourcePermission = Reference.meta({
	description: 'The key of an action of the resource, `<resource key>:<action key>`, or the id of such an action.',
	example: 'read',
});

const described = {
	name: Name,
	description: optional(Text),
	permissions: defaulted(boundedArray(ResourcePermission), () => []),
	attributes: optional(Attributes),
	extends: defaulted(boundedArray(Reference), () => []),
	granted_to: optional(DerivedRoleBlockEdit),
};

/** A new role of a resource; `extends` names roles of the same resource. */
export const ResourceRoleCreate = z.object({ key: Key, ...described }).meta({ id: 'ResourceRoleCreate' });
export type ResourceRoleCreate = z.output<typeof ResourceRoleCreate>;

/** A role in the body of a resource, which has its key as the name of a member of `roles`. */
export const RoleBlockEdit = z.object(described).meta({ id: 'RoleBlockEditable' });
export type RoleBlockEdit = z.output<typeof RoleBlockEdit>;

/**
 * The fields of a role of a resource that may change; lists, `attributes` and `granted_to` are replaced as a whole.
 */
export const ResourceRoleUpdate = z
	.object({
		name: optional(Name),
		description: clearable(Text),
		permissions: optional(boundedArray(ResourcePermission)),
		attributes: clearable(Attributes),
		extends: optional(boundedArray(Reference)),
		granted_to: clearable(DerivedRoleBlockEdit),
	})
	.meta({ id: 'ResourceRoleUpdate' });
export type ResourceRoleUpdate = z.output<typeof ResourceRoleUpdate>;

const permissions = { permissions: boundedArray(ResourcePermission) };

/** Permissions to give to a role of a resource. */
export const ResourceRolePermissions = granting(permissions, roleAnswerMembers).meta({ id: 'ResourceRolePermissions' });
export type ResourceRolePermissions = z.output<typeof ResourceRolePermissions>;

/** Permissions to take from a role of a resource. */
export const ResourceRolePermissionsRemove = z.object(permissions).meta({ id: 'ResourceRolePermissionsRemove' });
export type ResourceRolePermissionsRemove = z.output<typeof ResourceRolePermissionsRemove>;

/** A role of a resource; `permissions` are keys of the resource's actions, `extends` of its other roles. */
export const ResourceRoleRead = z
	.object({
		...environmentObject,
		key: z.string(),
		name: z.string(),
		resource_id: Uuid,
		resource: z.string(),
		description: z.string().nullable(),
		permissions: z.array(z.string()),
		extends: z.array(z.string()),
		attributes: StoredObject.nullable(),
		granted_to: DerivedRoleBlockRead.nullable(),
	})
	.meta({ id: 'ResourceRoleRead' });
export type ResourceRoleRead = z.input<typeof ResourceRoleRead>;

/** The roles that a role of a resource extends, or that extend it. */
export const ResourceRoleHierarchyRead = hierarchySchema(ResourceRoleRead).meta({ id: 'ResourceRoleHierarchyRead' });
