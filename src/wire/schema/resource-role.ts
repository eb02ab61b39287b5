import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import {
	Attributes,
	clearable,
	defaulted,
	Key,
	Name,
	optional,
	Reference,
	StoredObject,
	Text,
	Uuid,
} from '../common.js';
import { changedFields, named, namedObject } from '../named.js';
import { DerivedRoleBlockEdit, DerivedRoleBlockRead } from './derivation.js';
import { GrantableTo, GrantableToRead } from './grantable-to.js';
import { granting } from './granting.js';
import { hierarchySchema, roleAnswerMembers } from './role.js';
import { ComputedRole } from './role-expression.js';

/** Resource role permission: an action in the same resource. The handler looks it up. */
export const ResourcePermission = Reference.meta({
	description: 'Key of an action in the resource, `<resource key>:<action key>`, or the action id.',
	example: 'read',
});

const described = {
	name: Name.describe('Display name.'),
	description: optional(Text).describe('Role description. Null counts as absent.'),
	permissions: defaulted(boundedArray(ResourcePermission), () => []).describe(
		'Granted actions in the resource; none by default.',
	),
	attributes: optional(Attributes).describe('Custom data. Null counts as absent.'),
	extends: defaulted(boundedArray(Reference), () => []).describe(
		'Roles in the resource whose permissions the role inherits (ids or keys); none by default.',
	),
	granted_to: optional(DerivedRoleBlockEdit).describe('Derivations from roles on related instances; none by default.'),
	public: optional(z.boolean()).describe(
		'True if the role can be assigned to everyone, by the user key `*`; false by default.',
	),
	grantable_to: optional(boundedArray(GrantableTo)).describe(
		'Sets of users to which the role can be assigned, by the role that they hold; none by default. Null counts as absent.',
	),
	computed: optional(ComputedRole).describe(
		'Makes this a computed role: users hold it by their other roles on the instance, and it is never assigned or ' +
			'derived. Roles on related instances can be derived from it. Null counts as absent.',
	),
	grant_conditions: defaulted(boundedArray(Reference), () => []).describe(
		'Condition sets of type `grant` under which the role may be assigned (ids or keys); none by default.',
	),
};

export const ResourceRoleCreate = named(
	'ResourceRoleCreate',
	'A new resource role; `extends` contains roles in the same resource.',
	{ key: Key.describe('Key, unique among the roles in the resource.'), ...described },
);

export const RoleBlockEdit = named(
	'RoleBlockEditable',
	'A role in a resource body; its key is the field name in `roles`.',
	described,
);
export type RoleBlockEdit = z.output<typeof RoleBlockEdit>;

export const ResourceRoleUpdate = named(
	'ResourceRoleUpdate',
	'Resource role fields to change; lists, `attributes`, `granted_to` and `computed` are replaced as a whole.',
	{
		...changedFields('Role'),
		permissions: optional(boundedArray(ResourcePermission)).describe(
			'Complete new action list. Null counts as absent.',
		),
		attributes: clearable(Attributes).describe('Custom data, which replaces the stored data; null clears it.'),
		extends: optional(boundedArray(Reference)).describe(
			'Complete new list of extended roles (ids or keys). Null counts as absent.',
		),
		granted_to: clearable(DerivedRoleBlockEdit).describe('Complete new derivations; null for none.'),
		public: optional(z.boolean()).describe(
			'True if the role can be assigned to everyone. False also removes its assignments to everyone.',
		),
		grantable_to: optional(boundedArray(GrantableTo)).describe(
			'Complete new list of the sets of users to which the role can be assigned. Assignments to all other sets are ' +
				'removed. Null counts as absent.',
		),
		computed: clearable(ComputedRole).describe(
			'Expression of a computed role; null for a role that is assigned or derived.',
		),
		grant_conditions: optional(boundedArray(Reference)).describe(
			'Complete new list of condition sets under which the role may be assigned (ids or keys). Null counts as absent.',
		),
	},
);

const permissions = { permissions: boundedArray(ResourcePermission).describe('Actions in the resource.') };

export const ResourceRolePermissions = granting(permissions, [
	...roleAnswerMembers,
	'computed',
	'public',
	'grantable_to',
]).meta({ id: 'ResourceRolePermissions', description: 'Permissions to add to a resource role.' });

export const ResourceRolePermissionsRemove = named(
	'ResourceRolePermissionsRemove',
	'Permissions to remove from a resource role.',
	permissions,
);

export const ResourceRoleRead = named(
	'ResourceRoleRead',
	'A resource role; `permissions` contains action keys, `extends` contains role keys in the same resource.',
	{
		...namedObject('roles in the resource'),
		resource_id: Uuid.describe('Resource id.'),
		resource: z.string().describe('Resource key.'),
		description: z.string().nullable().describe('Role description.'),
		permissions: z.array(z.string()).describe('Keys of actions granted by the role itself.'),
		extends: z.array(z.string()).describe('Role keys in the resource whose permissions the role inherits.'),
		attributes: StoredObject.nullable().describe('Custom data.'),
		granted_to: DerivedRoleBlockRead.nullable().describe(
			'Derivations from roles on related instances; null if never set.',
		),
		public: z.literal(true).optional().describe('Present if the role can be assigned to everyone.'),
		grantable_to: z
			.array(GrantableToRead)
			.optional()
			.describe('Sets of users to which the role can be assigned; absent if there are none.'),
		computed: StoredObject.nullable().describe('Expression of a computed role; null for any other role.'),
		grant_conditions: z
			.array(z.string())
			.optional()
			.describe('Keys of the condition sets under which the role may be assigned; absent if there are none.'),
	},
);
export type ResourceRoleRead = z.input<typeof ResourceRoleRead>;

export const ResourceRoleHierarchyRead = hierarchySchema(ResourceRoleRead).meta({
	id: 'ResourceRoleHierarchyRead',
	description: 'Ancestors or descendants of a resource role in the `extends` hierarchy.',
});
