import { z } from 'zod';
import { boundedArray } from './bounded.js';
import { environmentScoped, Reference, StoredObject, Uuid } from './common.js';
import { expiryShape, shownExpiry } from './granting.js';
import { Flag, pageShape, References } from './query.js';
import { roleGrantBody, roleRemovalBody, roleShape } from './user.js';

/** A role to give to a user in a tenant or on a resource instance. */
export const RoleAssignmentCreate = roleGrantBody({ user: Reference, ...roleShape, ...expiryShape }).meta({
	id: 'RoleAssignmentCreate',
});
export type RoleAssignmentCreate = z.output<typeof RoleAssignmentCreate>;

/** A role to take from a user in a tenant or on a resource instance. */
export const RoleAssignmentRemove = roleRemovalBody({ user: Reference, ...roleShape }).meta({
	id: 'RoleAssignmentRemove',
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
	missing_user_policy: z.enum(['fail', 'ignore', 'create']).default('fail'),
});
export type RoleAssignmentBulkQuery = z.output<typeof RoleAssignmentBulkQuery>;

/** Whether a removal answers with what it removed; decision points ask for it. */
export const RoleAssignmentRemoveQuery = z.object({ return_deleted: Flag });
export type RoleAssignmentRemoveQuery = z.output<typeof RoleAssignmentRemoveQuery>;

/**
 * The assignments that a list asks for, with any of the given values for each filter. A value that names nothing
 * matches nothing.
 */
export const RoleAssignmentQuery = z.object({
	user: References,
	role: References,
	tenant: References,
	resource: References,
	resource_instance: References,
	detailed: Flag,
	include_total_count: Flag,
	...pageShape,
});
export type RoleAssignmentQuery = z.output<typeof RoleAssignmentQuery>;

/** A role of a user in a tenant or on a resource instance of that tenant, by keys and by ids. */
export const RoleAssignmentRead = z
	.object({
		...environmentScoped,
		user: z.string(),
		role: z.string(),
		tenant: z.string(),
		/** `<resource key>:<instance key>`; null for a tenant role. */
		resource_instance: z.string().nullable(),
		resource_instance_id: Uuid.nullable(),
		user_id: Uuid,
		role_id: Uuid,
		tenant_id: Uuid,
		...shownExpiry,
	})
	.meta({ id: 'RoleAssignmentRead' });
export type RoleAssignmentRead = z.input<typeof RoleAssignmentRead>;

/** A role of a user in a tenant or on a resource instance, with what is known of each. */
export const RoleAssignmentDetailedRead = z
	.object({
		...environmentScoped,
		user: z.object({
			id: Uuid,
			key: z.string(),
			email: z.string().nullable(),
			first_name: z.string().nullable(),
			last_name: z.string().nullable(),
			attributes: StoredObject,
		}),
		role: z.object({ id: Uuid, key: z.string(), name: z.string(), permissions: z.array(z.string()).nullable() }),
		tenant: z.object({ id: Uuid, key: z.string(), name: z.string(), attributes: StoredObject }),
		resource_instance: z
			.object({ id: Uuid, key: z.string(), resource: z.string(), attributes: StoredObject })
			.nullable(),
		...shownExpiry,
	})
	.meta({ id: 'RoleAssignmentDetailedRead' });
export type RoleAssignmentDetailedRead = z.input<typeof RoleAssignmentDetailedRead>;

/** How many roles were given. */
export const RoleAssignmentBulkReport = z
	.object({ assignments_created: z.int().min(0) })
	.meta({ id: 'BulkRoleAssignmentReport' });
export type RoleAssignmentBulkReport = z.input<typeof RoleAssignmentBulkReport>;

/** How many roles were taken. */
export const RoleAssignmentBulkRemoveReport = z
	.object({ assignments_removed: z.int().min(0) })
	.meta({ id: 'BulkRoleUnAssignmentReport' });
export type RoleAssignmentBulkRemoveReport = z.input<typeof RoleAssignmentBulkRemoveReport>;
