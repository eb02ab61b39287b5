import { z } from 'zod';
import { boundedArray } from './bounded.js';
import { environmentScoped, Reference, StoredObject, Uuid } from './common.js';
import { Flag, pageShape, References } from './query.js';
import { givenSomewhere, heldSomewhere, roleShape } from './user.js';

/** A role to give to a user in a tenant or on a resource instance. */
export const RoleAssignmentCreate = givenSomewhere({ user: Reference, ...roleShape }).meta({
	id: 'RoleAssignmentCreate',
});
export type RoleAssignmentCreate = z.output<typeof RoleAssignmentCreate>;

/** A role to take from a user in a tenant or on a resource instance. */
export const RoleAssignmentRemove = heldSomewhere({ user: Reference, ...roleShape }).meta({
	id: 'RoleAssignmentRemove',
});
export type RoleAssignmentRemove = z.output<typeof RoleAssignmentRemove>;

/** The most assignments of one bulk call: each call is one unit, and nobody else writes to the environment meanwhile. */
export const maxBulkAssignments = 2000;
const tooMany = `must have at most ${maxBulkAssignments} role assignments; send the rest in further calls`;

/** Many roles to give; a bare array. */
export const RoleAssignmentBulkCreate = boundedArray(RoleAssignmentCreate).max(maxBulkAssignments, tooMany);
export type RoleAssignmentBulkCreate = z.output<typeof RoleAssignmentBulkCreate>;

/** Many roles to take; a bare array. */
export const RoleAssignmentBulkRemove = boundedArray(RoleAssignmentRemove).max(maxBulkAssignments, tooMany);
export type RoleAssignmentBulkRemove = z.output<typeof RoleAssignmentBulkRemove>;

/** What happens to an assignment of many whose user does not exist. */
export const RoleAssignmentBulkQuery = z.object({
	missing_user_policy: z.enum(['fail', 'ignore', 'create']).default('fail'),
});
export type RoleAssignmentBulkQuery = z.output<typeof RoleAssignmentBulkQuery>;

/** Whether a removal answers with what it removed; decision points ask for it. */
export const RoleAssignmentRemoveQuery = z.object({ return_deleted: Flag });
export type RoleAssignmentRemoveQuery = z.output<typeof RoleAssignmentRemoveQuery>;

/** Which assignments a list asks for: any value of a name, every name. Values that name nothing match nothing. */
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
