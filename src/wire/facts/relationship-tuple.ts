import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { environmentObject, InstanceReference, optional, Reference, StoredObject, Uuid } from '../common.js';
import { Flag, pageShape, References } from '../query.js';
import { expiryShape, granting, shownExpiry } from '../schema/granting.js';
import { operations, tooManyMessage } from './bulk.js';

const details = ['subject_details', 'relation_details', 'object_details', 'tenant_details'];
const ids = ['subject_id', 'relation_id', 'object_id', 'tenant_id'];
const sides = {
	subject: InstanceReference.describe(
		'The instance that stands in the relation: `<resource key>:<instance key>` or its id.',
	),
	relation: Reference.describe('The relation from the subject to the object: its id or key.'),
	object: InstanceReference.describe(
		'The instance to which the subject is related: `<resource key>:<instance key>` or its id.',
	),
};

/** A relationship to create. Missing instances are created in `tenant`, which is ignored if both exist. */
export const RelationshipTupleCreate = granting(
	{
		...sides,
		tenant: optional(Reference).describe(
			'The tenant in which missing instances are created: its id or key. Ignored if both exist.',
		),
		...expiryShape,
	},
	[...ids, ...details],
).meta({
	id: 'RelationshipTupleCreate',
	description: 'A relationship to create. Missing instances are created in `tenant`, which is ignored if both exist.',
});
export type RelationshipTupleCreate = z.output<typeof RelationshipTupleCreate>;

/** A relationship to delete. */
export const RelationshipTupleRemove = z
	.object(sides)
	.meta({ id: 'RelationshipTupleDelete', description: 'A relationship to delete.' });
export type RelationshipTupleRemove = z.output<typeof RelationshipTupleRemove>;

/** The most tuples of one bulk call. Each call is one unit, and no other write to the environment runs meanwhile. */
export const maxBulkTuples = 1000;

/** Many relationships to create. */
export const RelationshipTupleBulkCreate = operations(
	RelationshipTupleCreate,
	maxBulkTuples,
	'relationship tuples',
).meta({ id: 'RelationshipTupleCreateBulkOperation', description: 'Many relationships to create.' });
export type RelationshipTupleBulkCreate = z.output<typeof RelationshipTupleBulkCreate>;

/** Many relationships to delete. */
export const RelationshipTupleBulkRemove = z
	.object({
		idents: boundedArray(
			RelationshipTupleRemove,
			maxBulkTuples,
			tooManyMessage(maxBulkTuples, 'relationship tuples'),
		).describe('The relationships to delete, at most 1,000.'),
	})
	.meta({ id: 'RelationshipTupleDeleteBulkOperation', description: 'Many relationships to delete.' });
export type RelationshipTupleBulkRemove = z.output<typeof RelationshipTupleBulkRemove>;

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
	...pageShape,
};

/**
 * The tuples that a detailed list asks for, with any of the given values for each filter. A value that names nothing
 * matches nothing.
 */
export const RelationshipTupleDetailedListQuery = z.object(filters);
export type RelationshipTupleDetailedListQuery = z.output<typeof RelationshipTupleDetailedListQuery>;

/** Which tuples a list asks for. */
export const RelationshipTupleQuery = z.object({
	...filters,
	detailed: Flag.describe('Show subject, relation, object and tenant with what is known of each.'),
	include_total_count: Flag.describe(
		'Answer an object with `data`, `total_count` and `page_count` in place of a plain array.',
	),
});
export type RelationshipTupleQuery = z.output<typeof RelationshipTupleQuery>;

/** One side of a relationship, as its details show it. */
export const InstanceDetails = z
	.object({
		key: z.string().describe('The key of the instance.'),
		tenant: z.string().describe('The key of its tenant.'),
		resource: z.string().describe('The key of its resource.'),
		attributes: StoredObject.describe('Its attributes, which conditions compare.'),
	})
	.meta({ id: 'ResourceInstanceDetails', description: 'One side of a relationship, as its details show it.' });
export type InstanceDetails = z.input<typeof InstanceDetails>;

/** A relationship: `subject` stands in `relation` to `object`; all by keys and by ids. */
export const RelationshipTupleRead = z
	.object({
		...environmentObject,
		subject: z.string().describe('The instance that stands in the relation, as `<resource key>:<instance key>`.'),
		relation: z.string().describe('The key of the relation.'),
		object: z.string().describe('The instance to which the subject is related, as `<resource key>:<instance key>`.'),
		tenant: z.string().describe('The key of the tenant.'),
		subject_id: Uuid.describe('The id of the subject.'),
		relation_id: Uuid.describe('The id of the relation.'),
		object_id: Uuid.describe('The id of the object.'),
		tenant_id: Uuid.describe('The id of the tenant.'),
		...shownExpiry,
		subject_details: InstanceDetails.optional().describe('The subject; only where details were asked for.'),
		object_details: InstanceDetails.optional().describe('The object; only where details were asked for.'),
		relation_details: z
			.object({
				key: z.string().describe('The key of the relation.'),
				name: z.string().describe('A name for people.'),
				description: z.string().nullable().describe('What the relation means.'),
			})
			.optional()
			.describe('The relation; only where details were asked for.'),
		tenant_details: z
			.object({
				key: z.string().describe('The key of the tenant.'),
				name: z.string().describe('A name for people.'),
				description: z.string().nullable().describe('Who the tenant is.'),
				attributes: StoredObject.describe('Its attributes, which conditions compare.'),
			})
			.optional()
			.describe('The tenant; only where details were asked for.'),
	})
	.meta({
		id: 'RelationshipTupleRead',
		description: 'A relationship: `subject` stands in `relation` to `object`; all by keys and by ids.',
	});
export type RelationshipTupleRead = z.input<typeof RelationshipTupleRead>;
