import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { environmentScoped, Reference, StoredObject, Uuid } from '../common.js';
import { Flag, pageShape, References } from '../query.js';
import { expiryShape, shownExpiry } from '../schema/granting.js';
import { roleGrantBody, roleRemovalBody, roleShape } from './user.js';

/** A role to give to a user in a tenant or on a resource instance. */
export const RoleAssignmentCreate = roleGrantBody({
	user: Reference.describe('The user: an id or a key.'),
	...roleShape,
	...expiryShape,
}).meta({
	id: 'RoleAssignmentCreate',
	description: 'A role to give to a user in a tenant or on a resource instance.',
});
export type RoleAssignmentCreate = z.output<typeof RoleAssignmentCreate>;

/** A role to take from a user in a tenant or on a resource instance. */
export const RoleAssignmentRemove = roleRemovalBody({
	user: Reference.describe('The user: an id or a key.'),
	...roleShape,
}).meta({
	id: 'RoleAssignmentRemove',
	description: 'A role to take from a user in a tenant or on a resource instance.',
});
export type RoleAssignmentRemove = z.output<typeof RoleAssignmentRemove>;

/**
 * The most assignments of one bulk call. Each call is one unit, and no other write to the environment runs meanwhile.
 */
export const maxBulkAssignments = 2000;
const tooMany = `must have at most ${maxBulkAssignments} role assignments; send the rest in further calls`;

/** Many roles to give; a bare array. */
export const RoleAssignmentBulkCreate = boundedArray(RoleAssignmentCreate, maxBulkAssignments, tooMany);
export type RoleAssignmentBulkCreate = z.output<typeof RoleAssignmentBulkCreate>;

/** Many roles to take; a bare array. */
export const RoleAssignmentBulkRemove = boundedArray(RoleAssignmentRemove, maxBulkAssignments, tooMany);
export type RoleAssignmentBulkRemove = z.output<typeof RoleAssignmentBulkRemove>;

/** What a bulk call does with an assignment whose user does not exist. */
export const RoleAssignmentBulkQuery = z.object({
	missing_user_policy: z
		.enum(['fail', 'ignore', 'create'])
		.default('fail')
		.describe(
			'What happens to an assignment whose user does not exist: the call fails, the assignment is skipped, or ' +
				'the user is created.',
		),
});
export type RoleAssignmentBulkQuery = z.output<typeof RoleAssignmentBulkQuery>;

/** Whether a removal answers with what it removed; decision points ask for it. */
export const RoleAssignmentRemoveQuery = z.object({
	return_deleted: Flag.describe('Answer what was removed, with status 200 in place of 204.'),
});
export type RoleAssignmentRemoveQuery = z.output<typeof RoleAssignmentRemoveQuery>;

/**
 * The assignments that a list asks for, with any of the given values for each filter. A value that names nothing
 * matches nothing.
 */
export const RoleAssignmentQuery = z.object({
	user: References.describe('Only roles of these users (ids or keys); may be repeated.'),
	role: References.describe('Only roles of these ids or keys, in tenants and of every resource; may be repeated.'),
	tenant: References.describe('Only roles in these tenants (ids or keys); may be repeated.'),
	resource: References.describe('Only roles on instances of these resources (ids or keys); may be repeated.'),
	resource_instance: References.describe(
		'Only roles on these instances (`<resource key>:<instance key>`, ids or keys); may be repeated.',
	),
	detailed: Flag.describe('Show user, role, tenant and instance with what is known of each.'),
	include_total_count: Flag.describe(
		'Answer an object with `data`, `total_count` and `page_count` in place of a plain array.',
	),
	...pageShape,
});
export type RoleAssignmentQuery = z.output<typeof RoleAssignmentQuery>;

/** A role of a user in a tenant or on a resource instance of that tenant, by keys and by ids. */
export const RoleAssignmentRead = z
	.object({
		...environmentScoped,
		user: z.string().describe('The key of the user.'),
		role: z.string().describe('The key of the role.'),
		tenant: z.string().describe('The key of the tenant; that of the instance for a role on one.'),
		resource_instance: z.string().nullable().describe('`<resource key>:<instance key>`; null for a tenant role.'),
		resource_instance_id: Uuid.nullable().describe('The id of the instance; null for a tenant role.'),
		user_id: Uuid.describe('The id of the user.'),
		role_id: Uuid.describe('The id of the role.'),
		tenant_id: Uuid.describe('The id of the tenant.'),
		...shownExpiry,
	})
	.meta({
		id: 'RoleAssignmentRead',
		description: 'A role of a user in a tenant or on a resource instance of that tenant, by keys and by ids.',
	});
export type RoleAssignmentRead = z.input<typeof RoleAssignmentRead>;

/** A role of a user in a tenant or on a resource instance, with what is known of each. */
export const RoleAssignmentDetailedRead = z
	.object({
		...environmentScoped,
		user: z
			.object({
				id: Uuid.describe('The id of the user.'),
				key: z.string().describe('The key of the user.'),
				email: z.string().nullable().describe('The e-mail address.'),
				first_name: z.string().nullable().describe('The first name.'),
				last_name: z.string().nullable().describe('The last name.'),
				attributes: StoredObject.describe("The user's attributes, which conditions compare."),
			})
			.describe('The user who holds the role.'),
		role: z
			.object({
				id: Uuid.describe('The id of the role.'),
				key: z.string().describe('The key of the role.'),
				name: z.string().describe('A name for people.'),
				permissions: z.array(z.string()).nullable().describe('What it grants itself.'),
			})
			.describe('The role that is held.'),
		tenant: z
			.object({
				id: Uuid.describe('The id of the tenant.'),
				key: z.string().describe('The key of the tenant.'),
				name: z.string().describe('A name for people.'),
				attributes: StoredObject.describe("The tenant's attributes, which conditions compare."),
			})
			.describe('The tenant in which the role is held.'),
		resource_instance: z
			.object({
				id: Uuid.describe('The id of the instance.'),
				key: z.string().describe('The key of the instance.'),
				resource: z.string().describe('The key of its resource.'),
				attributes: StoredObject.describe('Its attributes, which conditions compare.'),
			})
			.nullable()
			.describe('The instance on which the role is held; null for a tenant role.'),
		...shownExpiry,
	})
	.meta({
		id: 'RoleAssignmentDetailedRead',
		description: 'A role of a user in a tenant or on a resource instance, with what is known of each.',
	});
export type RoleAssignmentDetailedRead = z.input<typeof RoleAssignmentDetailedRead>;

/** How many roles were given. */
export const RoleAssignmentBulkReport = z
	.object({
		assignments_created: z
			.int()
			.min(0)
			.describe('How many roles were given, or extended; those that were held are not counted.'),
	})
	.meta({ id: 'BulkRoleAssignmentReport', description: 'How many roles were given.' });
export type RoleAssignmentBulkReport = z.input<typeof RoleAssignmentBulkReport>;

/** How many roles were taken. */
export const RoleAssignmentBulkRemoveReport = z
	.object({
		assignments_removed: z
			.int()
			.min(0)
			.describe('How many roles were taken; those that were not held are not counted.'),
	})
	.meta({ id: 'BulkRoleUnAssignmentReport', description: 'How many roles were taken.' });
export type RoleAssignmentBulkRemoveReport = z.input<typeof RoleAssignmentBulkRemoveReport>;
