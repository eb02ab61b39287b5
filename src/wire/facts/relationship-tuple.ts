import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { environmentObject, InstanceReference, optional, Reference, StoredObject, Uuid } from '../common.js';
import { named } from '../named.js';
import { Flag, pageShape, References, TotalCountFlag } from '../query.js';
import {
	expiryShape,
	granting,
	removedConditionShape,
	shownCondition,
	shownExpiry,
	tupleConditionShape,
} from '../schema/granting.js';
import { operations, tooManyMessage } from './bulk.js';

const details = ['subject_details', 'relation_details', 'object_details', 'tenant_details'];
const ids = ['subject_id', 'relation_id', 'object_id', 'tenant_id'];
const sides = {
	subject: InstanceReference.describe('Subject instance: `<resource key>:<instance key>` or its id.'),
	relation: Reference.describe('Relation from subject to object: id or key.'),
	object: InstanceReference.describe('Object instance: `<resource key>:<instance key>` or its id.'),
};

export const RelationshipTupleCreate = granting(
	{
		...sides,
		tenant: optional(Reference).describe('Tenant for missing instances: id or key. Ignored if both exist.'),
		...expiryShape,
		...tupleConditionShape,
	},
	[...ids, ...details],
).meta({
	id: 'RelationshipTupleCreate',
	description: 'A relationship to create. Missing instances are created in `tenant`, which is ignored if both exist.',
});
export type RelationshipTupleCreate = z.output<typeof RelationshipTupleCreate>;

export const RelationshipTupleRemove = named('RelationshipTupleDelete', 'A relationship to delete.', {
	...sides,
	...removedConditionShape,
});
export type RelationshipTupleRemove = z.output<typeof RelationshipTupleRemove>;

/**
 * Maximum number of tuples per bulk call. The number is limited because each call is one unit of work, which blocks
 * other writes to the environment.
 */
export const maxBulkTuples = 1000;

export const RelationshipTupleBulkCreate = operations(
	RelationshipTupleCreate,
	maxBulkTuples,
	'relationship tuples',
).meta({ id: 'RelationshipTupleCreateBulkOperation', description: 'Relationships to create.' });

export const RelationshipTupleBulkRemove = named('RelationshipTupleDeleteBulkOperation', 'Relationships to delete.', {
	idents: boundedArray(
		RelationshipTupleRemove,
		maxBulkTuples,
		tooManyMessage(maxBulkTuples, 'relationship tuples'),
	).describe('Relationships to delete, at most 1,000.'),
});

const filters = {
	tenant: References.describe('Only relationships in these tenants (ids or keys); may be repeated.'),
	subject: References.describe(
		'Only relationships of these subjects (`<resource key>:<instance key>`, ids or keys); may be repeated.',
	),
	relation: References.describe('Only these relations (ids or keys); may be repeated.'),
	object: References.describe(
		'Only relationships to these objects (`<resource key>:<instance key>`, ids or keys); may be repeated.',
	),
	object_type: References.describe('Only objects of these resources (ids or keys); may be repeated.'),
	subject_type: References.describe('Only subjects of these resources (ids or keys); may be repeated.'),
	conditional: Flag.describe('Only conditional relationships.'),
	...pageShape,
};

/**
 * Filters for a detailed tuple list. A filter may have several values, and any value may match. A value without a
 * matching object matches no tuple.
 */
export const RelationshipTupleDetailedListQuery = z.object(filters);
export type RelationshipTupleDetailedListQuery = z.output<typeof RelationshipTupleDetailedListQuery>;

/** Filters for tuples. */
export const RelationshipTupleQuery = z.object({
	...filters,
	detailed: Flag.describe('Include subject, relation, object and tenant details.'),
	include_total_count: TotalCountFlag,
});

export const InstanceDetails = named('ResourceInstanceDetails', 'Details of one relationship side.', {
	key: z.string().describe('Instance key.'),
	tenant: z.string().describe('Tenant key.'),
	resource: z.string().describe('Resource key.'),
	attributes: StoredObject.describe('Attributes for conditions.'),
});

export const RelationshipTupleRead = named(
	'RelationshipTupleRead',
	'A relationship: `subject` has `relation` to `object`; by keys and by ids.',
	{
		...environmentObject,
		subject: z.string().describe('Subject instance, as `<resource key>:<instance key>`.'),
		relation: z.string().describe('Relation key.'),
		object: z.string().describe('Object instance, as `<resource key>:<instance key>`.'),
		tenant: z.string().describe('Tenant key.'),
		subject_id: Uuid.describe('Subject id.'),
		relation_id: Uuid.describe('Relation id.'),
		object_id: Uuid.describe('Object id.'),
		tenant_id: Uuid.describe('Tenant id.'),
		...shownExpiry,
		...shownCondition,
		subject_details: InstanceDetails.optional().describe('Subject details; present only if requested.'),
		object_details: InstanceDetails.optional().describe('Object details; present only if requested.'),
		relation_details: z
			.object({
				key: z.string().describe('Relation key.'),
				name: z.string().describe('Display name.'),
				description: z.string().nullable().describe('Relation description.'),
			})
			.optional()
			.describe('Relation details; present only if requested.'),
		tenant_details: z
			.object({
				key: z.string().describe('Tenant key.'),
				name: z.string().describe('Display name.'),
				description: z.string().nullable().describe('Tenant description.'),
				attributes: StoredObject.describe('Attributes for conditions.'),
			})
			.optional()
			.describe('Tenant details; present only if requested.'),
	},
);
export type RelationshipTupleRead = z.input<typeof RelationshipTupleRead>;
