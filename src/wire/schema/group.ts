import { z } from 'zod';
import { defaulted, InstanceReference, Key, optional, Reference, Uuid } from '../common.js';
import { named } from '../named.js';
import { pageShape, References, Searches, TotalCountFlag } from '../query.js';
import { expiryShape, granting } from './granting.js';
import { ResourceKey } from './resource.js';

/** Default group resource key. */
export const groupResource = 'group';

export const GroupCreate = named('GroupCreate', 'A new group; its resource and instance are created if missing.', {
	group_instance_key: Key.meta({ description: 'Instance key alone.' }),
	group_resource_type_key: defaulted(ResourceKey, () => groupResource).meta({
		description: 'Resource key or id for the instance; defaults to `group`.',
	}),
	group_tenant: Reference.describe('Group tenant: id or key.'),
});
export type GroupCreate = z.output<typeof GroupCreate>;

const groupRole = {
	resource: Reference.describe('Resource of the instance: id or key.'),
	resource_instance: InstanceReference.meta({
		description: 'An id (UUID), `<resource key>:<instance key>`, or an instance key in `resource`.',
	}),
	role: Reference.describe('Role in that resource: id or key.'),
	tenant: Reference.describe('Tenant for the group and the instance: id or key.'),
};
const shownOfGroupRole = ['key', 'resource_id', 'resource_instance_id', 'role_id', 'tenant_id'];

export const GroupRoleCreate = granting({ ...groupRole, ...expiryShape }, shownOfGroupRole).meta({
	id: 'GroupRoleCreate',
	description: 'A role on a resource instance, for members of the group in the path.',
});
export type GroupRoleCreate = z.output<typeof GroupRoleCreate>;

export const GroupRoleRemove = named(
	'GroupRoleRemove',
	'A role on a resource instance to remove from the group in the path.',
	groupRole,
);

/** Response fields that describe a group and its users. */
const shownOfGroup = ['group_resource_type_key', 'group_instance_key', 'group_tenant', 'assigned_roles', 'users'];
const shownOfUser = ['key', 'email', 'first_name', 'last_name', 'attributes', 'roles', 'associated_tenants'];

export const GroupUserAdd = granting({ tenant: Reference.describe('Group tenant: id or key.'), ...expiryShape }, [
	...shownOfGroup,
	...shownOfUser,
]).meta({ id: 'GroupUserAdd', description: 'Tenant of the group that the user in the path joins.' });
export type GroupUserAdd = z.output<typeof GroupUserAdd>;

export const GroupUserRemove = named('GroupUserRemove', 'Tenant of the group, optional for removals.', {
	tenant: optional(Reference).describe('Group tenant: id or key; may be omitted.'),
}).optional();

const otherGroup = {
	group_instance_key: InstanceReference.describe(
		'The nested group: `<resource key>:<instance key>`, an id (UUID) or a key, as in the path.',
	),
};

export const GroupNesting = granting({ ...otherGroup, ...expiryShape }, shownOfGroup).meta({
	id: 'GroupNesting',
	description: 'The group to nest in the group in the path.',
});

export const GroupNestingRemove = named(
	'GroupNestingRemove',
	'The nested group to remove from the group in the path.',
	otherGroup,
);

const filters = {
	tenant: References.describe('Only groups in these tenants (ids or keys); may be repeated.'),
	resource: References.describe('Only groups of these resources (ids or keys); may be repeated.'),
	search: Searches.describe('Part of the instance key; with `*`, a pattern for the whole key; may be repeated.'),
	...pageShape,
};

/**
 * Filters for groups. A filter may have several values, and any value may match. A value without a matching object
 * matches no group.
 */
export const GroupQuery = z.object(filters);
export type GroupQuery = z.output<typeof GroupQuery>;

/** Filters for the deprecated group list. */
export const GroupListQuery = z.object({ ...filters, include_total_count: TotalCountFlag });

const described = {
	id: Uuid.describe('Group instance id.'),
	group_resource_type_key: z.string().describe('Resource key of the instance.'),
	group_instance_key: z.string().describe('Instance key alone.'),
	group_tenant: z.string().describe('Group tenant key.'),
};

export const GroupReadSchema = named(
	'GroupReadSchema',
	'A group: its resource key, instance key alone, tenant key, and instance id.',
	described,
);
export type GroupReadSchema = z.input<typeof GroupReadSchema>;

/** Maximum number of roles that are shown with a group. The same limit applies to its users. */
export const maxShownOfGroup = 1000;

const absentText = `Absent if there are more than ${maxShownOfGroup}: use the paginated lists of the group.`;

export const GroupRead = named(
	'GroupRead',
	'A group with its roles, as `<resource key>:<instance key>#<role key>`, and its users, by id.',
	{
		...described,
		assigned_roles: z.array(z.string()).optional().meta({ description: absentText }),
		users: z.array(Uuid).optional().meta({ description: absentText }),
	},
);
export type GroupRead = z.input<typeof GroupRead>;

const identified = z.object({ id: Uuid.describe('Object id (UUID).'), key: z.string().describe('Object key.') });

export const GroupRoleRead = named(
	'GroupRoleRead',
	'A role that group members hold on a resource instance, by keys and by ids.',
	{
		key: z.string().describe('Role key.'),
		role: z.string().describe('Role key.'),
		role_id: Uuid.describe('Role id.'),
		resource: identified.describe('Resource of the instance.'),
		resource_id: Uuid.describe('Resource id.'),
		resource_instance: identified.describe('The instance; `key` is its key alone.'),
		resource_instance_id: Uuid.describe('Instance id.'),
		tenant: z.string().describe('Tenant key.'),
		tenant_id: Uuid.describe('Tenant id.'),
	},
);
export type GroupRoleRead = z.input<typeof GroupRoleRead>;
