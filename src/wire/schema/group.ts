import { z } from 'zod';
import { defaulted, InstanceReference, Key, optional, Reference, Uuid } from '../common.js';
import { Flag, pageShape, References, Searches } from '../query.js';
import { expiryShape, granting } from './granting.js';
import { ResourceKey } from './resource.js';

/** The key of the resource of groups that name no other. */
export const groupResource = 'group';

/** A new group; its resource and its instance are created if they are missing. */
export const GroupCreate = z
	.object({
		group_instance_key: Key.meta({ description: 'The key of the instance alone.' }),
		group_resource_type_key: defaulted(ResourceKey, () => groupResource).meta({
			description: 'The key or id of the resource of the instance; `group` where it is missing.',
		}),
		group_tenant: Reference.describe('The tenant of the group: its id or key.'),
	})
	.meta({
		id: 'GroupCreate',
		description: 'A new group; its resource and its instance are created if they are missing.',
	});
export type GroupCreate = z.output<typeof GroupCreate>;

const groupRole = {
	resource: Reference.describe('The resource of the instance: its id or key.'),
	resource_instance: InstanceReference.meta({
		description: 'An id (UUID), `<resource key>:<instance key>`, or the key of an instance of `resource`.',
	}),
	role: Reference.describe('The role of that resource: its id or key.'),
	tenant: Reference.describe('The tenant of the group and of the instance: its id or key.'),
};
const shownOfGroupRole = ['key', 'resource_id', 'resource_instance_id', 'role_id', 'tenant_id'];

/** A role on a resource instance, for the members of the group that the path names. */
export const GroupRoleCreate = granting({ ...groupRole, ...expiryShape }, shownOfGroupRole).meta({
	id: 'GroupRoleCreate',
	description: 'A role on a resource instance, for the members of the group that the path names.',
});
export type GroupRoleCreate = z.output<typeof GroupRoleCreate>;

/** The role on a resource instance to take from the group that the path names. */
export const GroupRoleRemove = z.object(groupRole).meta({
	id: 'GroupRoleRemove',
	description: 'The role on a resource instance to take from the group that the path names.',
});
export type GroupRoleRemove = z.output<typeof GroupRoleRemove>;

/** The members of a group, and of its users, in answers. */
const shownOfGroup = ['group_resource_type_key', 'group_instance_key', 'group_tenant', 'assigned_roles', 'users'];
const shownOfUser = ['key', 'email', 'first_name', 'last_name', 'attributes', 'roles', 'associated_tenants'];

/** Where the user of the path becomes a member: the group's tenant. */
export const GroupUserAdd = granting(
	{ tenant: Reference.describe('The tenant of the group: its id or key.'), ...expiryShape },
	[...shownOfGroup, ...shownOfUser],
).meta({
	id: 'GroupUserAdd',
	description: "Where the user of the path becomes a member: the group's tenant.",
});
export type GroupUserAdd = z.output<typeof GroupUserAdd>;

/** The group's tenant, which is optional when a user is removed. */
export const GroupUserRemove = z
	.object({ tenant: optional(Reference).describe('The tenant of the group: its id or key; may be left out.') })
	.meta({ id: 'GroupUserRemove', description: 'The group’s tenant, which is optional when a user is removed.' })
	.optional();
export type GroupUserRemove = z.output<typeof GroupUserRemove>;

const otherGroup = {
	group_instance_key: InstanceReference.describe(
		'The other group: `<resource key>:<instance key>`, an id (UUID) or a key, as in the path.',
	),
};

/** The other group: the one to put into the group of the path. */
export const GroupNesting = granting({ ...otherGroup, ...expiryShape }, shownOfGroup).meta({
	id: 'GroupNesting',
	description: 'The other group: the one to put into the group of the path.',
});
export type GroupNesting = z.output<typeof GroupNesting>;

/** The other group: the one to take out of the group of the path. */
export const GroupNestingRemove = z
	.object(otherGroup)
	.meta({ id: 'GroupNestingRemove', description: 'The other group: the one to take out of the group of the path.' });
export type GroupNestingRemove = z.output<typeof GroupNestingRemove>;

const filters = {
	tenant: References.describe('Only groups in these tenants (ids or keys); may be repeated.'),
	resource: References.describe('Only groups of these resources (ids or keys); may be repeated.'),
	search: Searches.describe('Part of the key of the instance; with `*` a pattern for the whole; may be repeated.'),
	...pageShape,
};

/**
 * The groups that a list asks for, with any of the given values for each filter. A value that names nothing matches
 * nothing.
 */
export const GroupQuery = z.object(filters);
export type GroupQuery = z.output<typeof GroupQuery>;

/** Which groups the deprecated list asks for. */
export const GroupListQuery = z.object({
	...filters,
	include_total_count: Flag.describe(
		'Answer an object with `data`, `total_count` and `page_count` in place of a plain array.',
	),
});
export type GroupListQuery = z.output<typeof GroupListQuery>;

const described = {
	id: Uuid.describe('The id of the instance that is the group.'),
	group_resource_type_key: z.string().describe('The key of the resource of the instance.'),
	group_instance_key: z.string().describe('The key of the instance alone.'),
	group_tenant: z.string().describe('The key of the tenant that the group is in.'),
};

/** A group: the keys of its resource, of its instance alone and of its tenant, and the id of its instance. */
export const GroupReadSchema = z.object(described).meta({
	id: 'GroupReadSchema',
	description:
		'A group: the keys of its resource, of its instance alone and of its tenant, and the id of its instance.',
});
export type GroupReadSchema = z.input<typeof GroupReadSchema>;

/** The most roles and the most users that one group is shown with. */
export const maxShownOfGroup = 1000;

const absentText = `Absent where there are more than ${maxShownOfGroup}: the group’s own lists have them page by page.`;

/** A group with its roles, as `<resource key>:<instance key>#<role key>`, and with its users, by id. */
export const GroupRead = z
	.object({
		...described,
		assigned_roles: z.array(z.string()).optional().meta({ description: absentText }),
		users: z.array(Uuid).optional().meta({ description: absentText }),
	})
	.meta({
		id: 'GroupRead',
		description: 'A group with its roles, as `<resource key>:<instance key>#<role key>`, and with its users, by id.',
	});
export type GroupRead = z.input<typeof GroupRead>;

const named = z.object({ id: Uuid.describe('The id (UUID).'), key: z.string().describe('The key.') });

/** A role that the members of a group derive on a resource instance, by keys and by ids. */
export const GroupRoleRead = z
	.object({
		key: z.string().describe('The key of the role.'),
		role: z.string().describe('The key of the role.'),
		role_id: Uuid.describe('The id of the role.'),
		resource: named.describe('The resource of the instance.'),
		resource_id: Uuid.describe('The id of that resource.'),
		resource_instance: named.describe('The instance; `key` is its key alone.'),
		resource_instance_id: Uuid.describe('The id of the instance.'),
		tenant: z.string().describe('The key of the tenant.'),
		tenant_id: Uuid.describe('The id of the tenant.'),
	})
	.meta({
		id: 'GroupRoleRead',
		description: 'A role that the members of a group derive on a resource instance, by keys and by ids.',
	});
export type GroupRoleRead = z.input<typeof GroupRoleRead>;
