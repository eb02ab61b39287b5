import { z } from 'zod';
import { boundedArray } from '../bounded.js';
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
} from '../common.js';
import { DerivedRoleBlockEdit, DerivedRoleBlockRead } from './derivation.js';
import { granting } from './granting.js';
import { hierarchySchema, roleAnswerMembers } from './role.js';

/** A permission of a role of a resource: an action of that resource, which the handler looks up. */
export const ResourcePermission = Reference.meta({
	description: 'The key of an action of the resource, `<resource key>:<action key>`, or the id of such an action.',
	example: 'read',
});

const described = {
	name: Name.describe('A name for people.'),
	description: optional(Text).describe('What the role is for. Null counts as absent.'),
	permissions: defaulted(boundedArray(ResourcePermission), () => []).describe(
		'The actions of the resource that it grants; none when left out.',
	),
	attributes: optional(Attributes).describe('Any data of your own. Null counts as absent.'),
	extends: defaulted(boundedArray(Reference), () => []).describe(
		'The roles of the resource whose permissions it has as well (ids or keys); none when left out.',
	),
	granted_to: optional(DerivedRoleBlockEdit).describe(
		'From which roles on related instances it is derived; from none when left out.',
	),
};

/** A new role of a resource; `extends` names roles of the same resource. */
export const ResourceRoleCreate = z
	.object({ key: Key.describe('The key, unique among the roles of the resource.'), ...described })
	.meta({
		id: 'ResourceRoleCreate',
		description: 'A new role of a resource; `extends` names roles of the same resource.',
	});
export type ResourceRoleCreate = z.output<typeof ResourceRoleCreate>;

/** A role in the body of a resource, which has its key as the name of a member of `roles`. */
export const RoleBlockEdit = z.object(described).meta({
	id: 'RoleBlockEditable',
	description: 'A role in the body of a resource, which has its key as the name of a member of `roles`.',
});
export type RoleBlockEdit = z.output<typeof RoleBlockEdit>;

/**
 * The fields of a role of a resource that may change; lists, `attributes` and `granted_to` are replaced as a whole.
 */
export const ResourceRoleUpdate = z
	.object({
		name: optional(Name).describe('A new name. Null counts as absent.'),
		description: clearable(Text).describe('What the role is for; null clears it.'),
		permissions: optional(boundedArray(ResourcePermission)).describe(
			'All actions that it grants from now on. Null counts as absent.',
		),
		attributes: clearable(Attributes).describe('Any data of your own, which replaces what is stored; null clears it.'),
		extends: optional(boundedArray(Reference)).describe(
			'All roles that it extends from now on (ids or keys). Null counts as absent.',
		),
		granted_to: clearable(DerivedRoleBlockEdit).describe('All its derivations from now on; null for none.'),
	})
	.meta({
		id: 'ResourceRoleUpdate',
		description:
			'The fields of a role of a resource that may change; lists, `attributes` and `granted_to` are replaced as ' +
			'a whole.',
	});
export type ResourceRoleUpdate = z.output<typeof ResourceRoleUpdate>;

const permissions = { permissions: boundedArray(ResourcePermission).describe('Actions of the resource.') };

/** Permissions to give to a role of a resource. */
export const ResourceRolePermissions = granting(permissions, roleAnswerMembers).meta({
	id: 'ResourceRolePermissions',
	description: 'Permissions to give to a role of a resource.',
});
export type ResourceRolePermissions = z.output<typeof ResourceRolePermissions>;

/** Permissions to take from a role of a resource. */
export const ResourceRolePermissionsRemove = z
	.object(permissions)
	.meta({ id: 'ResourceRolePermissionsRemove', description: 'Permissions to take from a role of a resource.' });
export type ResourceRolePermissionsRemove = z.output<typeof ResourceRolePermissionsRemove>;

/** A role of a resource; `permissions` are keys of the resource's actions, `extends` of its other roles. */
export const ResourceRoleRead = z
	.object({
		...environmentObject,
		key: z.string().describe('The key, unique among the roles of the resource.'),
		name: z.string().describe('A name for people.'),
		resource_id: Uuid.describe('The id of the resource.'),
		resource: z.string().describe('The key of the resource.'),
		description: z.string().nullable().describe('What the role is for.'),
		permissions: z.array(z.string()).describe('The keys of the actions that it grants itself.'),
		extends: z.array(z.string()).describe('The keys of the roles of the resource whose permissions it has as well.'),
		attributes: StoredObject.nullable().describe('Any data of your own.'),
		granted_to: DerivedRoleBlockRead.nullable().describe(
			'From which roles on related instances it is derived; null if it never was.',
		),
	})
	.meta({
		id: 'ResourceRoleRead',
		description:
			"A role of a resource; `permissions` are keys of the resource's actions, `extends` of its other roles.",
	});
export type ResourceRoleRead = z.input<typeof ResourceRoleRead>;

/** The roles that a role of a resource extends, or that extend it. */
export const ResourceRoleHierarchyRead = hierarchySchema(ResourceRoleRead).meta({
	id: 'ResourceRoleHierarchyRead',
	description: 'The roles that a role of a resource extends, or that extend it.',
});
