import { z } from 'zod';
import { ComparedAttributes } from '../attributes.js';
import { clearable, defaulted, environmentObject, Key, Reference, StoredObject, Uuid } from '../common.js';
import { named } from '../named.js';
import { Flag, pageShape, References, Searches, TotalCountFlag } from '../query.js';
import { shownCondition } from '../schema/granting.js';
import { idents, operations } from './bulk.js';

export const ResourceInstanceCreate = named(
	'ResourceInstanceCreate',
	'A new resource instance: an object of a resource type, in one tenant.',
	{
		key: Key.describe('Key, unique among the instances in the resource.'),
		resource: Reference.describe('Resource: id or key.'),
		tenant: Reference.describe('Tenant: id or key.'),
		attributes: defaulted(ComparedAttributes, () => ({})).describe(
			'Attributes for conditions to compare; none by default.',
		),
	},
);
export type ResourceInstanceCreate = z.output<typeof ResourceInstanceCreate>;

export const ResourceInstanceUpdate = named(
	'ResourceInstanceUpdate',
	'Instance fields to change; `attributes` are replaced as a whole.',
	{ attributes: clearable(ComparedAttributes).describe('Complete new attributes; null clears them.') },
);
export type ResourceInstanceUpdate = z.output<typeof ResourceInstanceUpdate>;

/**
 * Maximum number of instances per bulk call. The number is limited because each call is one unit of work, which blocks
 * other writes to the environment.
 */
export const maxBulkInstances = 3000;

export const ResourceInstanceBulkReplace = operations(
	ResourceInstanceCreate,
	maxBulkInstances,
	'resource instances',
).meta({
	id: 'ResourceInstanceReplaceBulkOperation',
	description: 'Instances to create or replace, each identified by resource and key.',
});

export const ResourceInstanceBulkRemove = idents(maxBulkInstances, 'resource instances').meta({
	id: 'ResourceInstanceDeleteBulkOperation',
	description: 'Instances to delete, each by `<resource key>:<instance key>` or id.',
});

/** Detail level for one instance. */
export const ResourceInstanceDetailQuery = z.object({ detailed: Flag.describe('Include relationships.') });

const filters = {
	tenant: References.describe('Only instances in these tenants (ids or keys); may be repeated.'),
	resource: References.describe('Only instances of these resources (ids or keys); may be repeated.'),
	search: Searches.describe('Part of the key or of `<resource key>:<instance key>`, or an id; may be repeated.'),
	...pageShape,
};

/**
 * Filters for a detailed instance list. A filter may have several values, and any value may match. A value without a
 * matching object matches no instance.
 */
export const ResourceInstanceDetailedListQuery = z.object(filters);
export type ResourceInstanceDetailedListQuery = z.output<typeof ResourceInstanceDetailedListQuery>;

/** Filters for instances. */
export const ResourceInstanceQuery = z.object({
	...filters,
	detailed: Flag.describe('Include relationships for each instance.'),
	include_total_count: TotalCountFlag,
});

export const ResourceInstanceRelationship = named(
	'ResourceInstanceRelationship',
	'A relationship with the instance on either side.',
	{
		subject: z.string().describe('Subject, as `<resource key>:<instance key>`.'),
		relation: z.string().describe('Relation key.'),
		object: z.string().describe('Object, as `<resource key>:<instance key>`.'),
		...shownCondition,
	},
);

export const ResourceInstanceRead = named(
	'ResourceInstanceRead',
	'A resource instance; `relationships` are present only if requested.',
	{
		...environmentObject,
		key: z.string().describe('Key, unique among the instances in the resource.'),
		resource: z.string().describe('Resource key.'),
		resource_id: Uuid.describe('Resource id.'),
		tenant: z.string().describe('Tenant key.'),
		tenant_id: Uuid.describe('Tenant id.'),
		attributes: StoredObject.describe('Attributes for conditions.'),
		relationships: z
			.array(ResourceInstanceRelationship)
			.optional()
			.describe('All relationships on either side; present only if requested.'),
	},
);
export type ResourceInstanceRead = z.input<typeof ResourceInstanceRead>;
