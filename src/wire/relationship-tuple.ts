import { z } from 'zod';
import { boundedArray } from './bounded.js';
import { operations, tooManyMessage } from './bulk.js';
import { environmentObject, InstanceReference, optional, Reference, StoredObject, Uuid } from './common.js';
import { expiryShape, granting, shownExpiry } from './granting.js';
import { Flag, pageShape, References } from './query.js';

const details = ['subject_details', 'relation_details', 'object_details', 'tenant_details'];
const ids = ['subject_id', 'relation_id', 'object_id', 'tenant_id'];
const sides = { subject: InstanceReference, relation: Reference, object: InstanceReference };

/** A relationship to create. Missing instances are created in `tenant`, which is ignored if both exist. */
export const RelationshipTupleCreate = granting({ ...sides, tenant: optional(Reference), ...expiryShape }, [
	...ids,
	...details,
]).meta({
	id: 'RelationshipTupleCreate',
});
export type RelationshipTupleCreate = z.output<typeof RelationshipTupleCreate>;

/** A relationship to delete. */
export const RelationshipTupleRemove = z.object(sides).meta({ id: 'RelationshipTupleDelete' });
export type RelationshipTupleRemove = z.output<typeof RelationshipTupleRemove>;

/** The most tuples of one bulk call. Each call is one unit, and no other write to the environment runs meanwhile. */
export const maxBulkTuples = 1000;

/** Many relationships to create. */
export const RelationshipTupleBulkCreate = operations(
	RelationshipTupleCreate,
	maxBulkTuples,
	'relationship tuples',
).meta({ id: 'RelationshipTupleCreateBulkOperation' });
export type RelationshipTupleBulkCreate = z.output<typeof RelationshipTupleBulkCreate>;

/** Many relationships to delete. */
export const RelationshipTupleBulkRemove = z
	.object({
		idents: boundedArray(RelationshipTupleRemove, maxBulkTuples, tooManyMessage(maxBulkTuples, 'relationship tuples')),
	})
	.meta({ id: 'RelationshipTupleDeleteBulkOperation' });
export type RelationshipTupleBulkRemove = z.output<typeof RelationshipTupleBulkRemove>;

const filters = {
	tenant: References,
	subject: References,
	relation: References,
	object: References,
	object_type: References,
	subject_type: References,
	...pageShape,
};

/**
 * The tuples that a detailed list asks for, with any of the given values for each filter. A value that names nothing
 * matches nothing.
 */
export const RelationshipTupleDetailedListQuery = z.object(filters);
export type RelationshipTupleDetailedListQuery = z.output<typeof RelationshipTupleDetailedListQuery>;

/** Which tuples a list asks for. */
export const RelationshipTupleQuery = z.object({ ...filters, detailed: Flag, include_total_count: Flag });
export type RelationshipTupleQuery = z.output<typeof RelationshipTupleQuery>;

/** One side of a relationship, as its details show it. */
export const InstanceDetails = z
	.object({ key: z.string(), tenant: z.string(), resource: z.string(), attributes: StoredObject })
	.meta({ id: 'ResourceInstanceDetails' });
export type InstanceDetails = z.input<typeof InstanceDetails>;

/** A relationship: `subject` stands in `relation` to `object`; all by keys and by ids. */
export const RelationshipTupleRead = z
	.object({
		...environmentObject,
		/** `<resource key>:<instance key>`, as `object`. */
		subject: z.string(),
		relation: z.string(),
		object: z.string(),
		tenant: z.string(),
		subject_id: Uuid,
		relation_id: Uuid,
		object_id: Uuid,
		tenant_id: Uuid,
		...shownExpiry,
		subject_details: InstanceDetails.optional(),
		object_details: InstanceDetails.optional(),
		relation_details: z.object({ key: z.string(), name: z.string(), description: z.string().nullable() }).optional(),
		tenant_details: z
			.object({ key: z.string(), name: z.string(), description: z.string().nullable(), attributes: StoredObject })
			.optional(),
	})
	.meta({ id: 'RelationshipTupleRead' });
export type RelationshipTupleRead = z.input<typeof RelationshipTupleRead>;
