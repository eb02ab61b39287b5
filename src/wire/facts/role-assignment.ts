import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { environmentScoped, HolderReference, StoredObject, Uuid } from '../common.js';
import { named } from '../named.js';
import { Flag, Holders, pageShape, References, TotalCountFlag } from '../query.js';
import { conditionShape, expiryShape, removedConditionShape, shownCondition, shownExpiry } from '../schema/granting.js';
import { roleGrantBody, roleRemovalBody, roleShape } from './user.js';

export const RoleAssignmentCreate = roleGrantBody({
	user: HolderReference.describe(
		'User: id or key; `*` for everyone, if the resource role is public; `<resource key>:<instance key>#<role key>` for ' +
			'all users who hold this role on this instance, if `grantable_to` of the assigned role allows it.',
	),
	...roleShape,
	...expiryShape,
	...conditionShape,
}).meta({
	id: 'RoleAssignmentCreate',
	description: 'A role to assign to a user in a tenant or on a resource instance.',
});

export const RoleAssignmentRemove = roleRemovalBody({
	user: HolderReference.describe('User: id or key; `*` for everyone, or a set of users.'),
	...roleShape,
	...removedConditionShape,
}).meta({
	id: 'RoleAssignmentRemove',
	description: 'A role to remove from a user in a tenant or on a resource instance.',
});

/**
 * Maximum number of assignments per bulk call. The number is limited because each call is one unit of work, which
 * blocks other writes to the environment.
 */
export const maxBulkAssignments = 2000;
const tooMany = `must have at most ${maxBulkAssignments} role assignments; send the rest in further calls`;

/** Roles to assign, as a plain array. */
export const RoleAssignmentBulkCreate = boundedArray(RoleAssignmentCreate, maxBulkAssignments, tooMany);

/** Roles to remove, as a plain array. */
export const RoleAssignmentBulkRemove = boundedArray(RoleAssignmentRemove, maxBulkAssignments, tooMany);

/** Treatment of assignments to missing users in a bulk call. */
export const RoleAssignmentBulkQuery = z.object({
	missing_user_policy: z
		.enum(['fail', 'ignore', 'create'])
		.default('fail')
		.describe(
			'Treatment of an assignment to a missing user: fail the call (`fail`), ' +
				'skip the assignment (`ignore`), or create the user (`create`).',
		),
});
export type RoleAssignmentBulkQuery = z.output<typeof RoleAssignmentBulkQuery>;

/** Option to return the removed assignment. Decision points use it. */
export const RoleAssignmentRemoveQuery = z.object({
	return_deleted: Flag.describe('Return the removed assignment, with status 200 instead of 204.'),
});

/**
 * Filters for role assignments. A filter may have several values, and any value may match. A value without a matching
 * object matches no assignment.
 */
export const RoleAssignmentQuery = z.object({
	user: Holders.describe(
		'Only roles of these holders: users (ids or keys), everyone (`*`), or sets of users; may be repeated.',
	),
	role: References.describe(
		'Only roles with these ids or keys, both tenant roles and resource roles; may be repeated.',
	),
	tenant: References.describe('Only roles in these tenants (ids or keys); may be repeated.'),
	resource: References.describe('Only roles on instances of these resources (ids or keys); may be repeated.'),
	resource_instance: References.describe(
		'Only roles on these instances (`<resource key>:<instance key>`, ids or keys); may be repeated.',
	),
	conditional: Flag.describe('Only conditional role assignments.'),
	detailed: Flag.describe('Include user, role, tenant and instance details.'),
	include_total_count: TotalCountFlag,
	...pageShape,
});
export type RoleAssignmentQuery = z.output<typeof RoleAssignmentQuery>;

export const RoleAssignmentRead = named(
	'RoleAssignmentRead',
	"A user's role in a tenant or on a resource instance in the tenant, by keys and by ids.",
	{
		...environmentScoped,
		user: z
			.string()
			.describe('User key; `*` for everyone; `<resource key>:<instance key>#<role key>` for a set of users.'),
		role: z.string().describe('Role key.'),
		tenant: z.string().describe("Key of the tenant, or of the instance's tenant."),
		resource_instance: z.string().nullable().describe('`<resource key>:<instance key>`; null for a tenant role.'),
		resource_instance_id: Uuid.nullable().describe('Instance id; null for a tenant role.'),
		user_id: Uuid.describe('User id; for a set of users, the id of its instance.'),
		role_id: Uuid.describe('Role id.'),
		tenant_id: Uuid.describe('Tenant id.'),
		...shownExpiry,
		...shownCondition,
	},
);
export type RoleAssignmentRead = z.input<typeof RoleAssignmentRead>;

export const RoleAssignmentDetailedRead = named(
	'RoleAssignmentDetailedRead',
	"A user's role in a tenant or on a resource instance, with details for each object.",
	{
		...environmentScoped,
		user: z
			.object({
				id: Uuid.describe('User id; for a set of users, the id of its instance.'),
				key: z.string().describe('User key, `*` or a set of users.'),
				email: z.string().nullable().describe('E-mail address.'),
				first_name: z.string().nullable().describe('First name.'),
				last_name: z.string().nullable().describe('Last name.'),
				attributes: StoredObject.describe('User attributes for conditions.'),
			})
			.describe('User who holds the role.'),
		role: z
			.object({
				id: Uuid.describe('Role id.'),
				key: z.string().describe('Role key.'),
				name: z.string().describe('Display name.'),
				permissions: z.array(z.string()).nullable().describe('Permissions granted by the role itself.'),
			})
			.describe('The role.'),
		tenant: z
			.object({
				id: Uuid.describe('Tenant id.'),
				key: z.string().describe('Tenant key.'),
				name: z.string().describe('Display name.'),
				attributes: StoredObject.describe('Tenant attributes for conditions.'),
			})
			.describe('Tenant for the role.'),
		resource_instance: z
			.object({
				id: Uuid.describe('Instance id.'),
				key: z.string().describe('Instance key.'),
				resource: z.string().describe('Resource key.'),
				attributes: StoredObject.describe('Attributes for conditions.'),
			})
			.nullable()
			.describe('Instance for the role; null for a tenant role.'),
		...shownExpiry,
		...shownCondition,
	},
);
export type RoleAssignmentDetailedRead = z.input<typeof RoleAssignmentDetailedRead>;

export const RoleAssignmentBulkReport = named('BulkRoleAssignmentReport', 'Bulk role assignment result.', {
	assignments_created: z
		.int()
		.min(0)
		.describe('Number of roles assigned or extended; roles already held are not counted.'),
});

export const RoleAssignmentBulkRemoveReport = named('BulkRoleUnAssignmentReport', 'Bulk role removal result.', {
	assignments_removed: z.int().min(0).describe('Number of roles removed; roles not held are not counted.'),
});
