import { z } from 'zod';
import { ComparedAttributes } from '../attributes.js';
import { clearable, defaulted, environmentObject, Key, Reference, StoredObject, Uuid } from '../common.js';
import { Flag, pageShape, References, Searches } from '../query.js';
import { idents, operations } from './bulk.js';

/** A new resource instance: one thing of a resource type, in one tenant. */
export const ResourceInstanceCreate = z
	.object({
		key: Key.describe('The key, unique among the instances of the resource.'),
		resource: Reference.describe('The resource: its id or key.'),
		tenant: Reference.describe('The tenant: its id or key.'),
		attributes: defaulted(ComparedAttributes, () => ({})).describe(
			'Attributes for conditions to compare; none when left out.',
		),
	})
	.meta({
		id: 'ResourceInstanceCreate',
		description: 'A new resource instance: one thing of a resource type, in one tenant.',
	});
export type ResourceInstanceCreate = z.output<typeof ResourceInstanceCreate>;

/** The fields of an instance that may change; `attributes` are replaced as a whole. */
export const ResourceInstanceUpdate = z
	.object({ attributes: clearable(ComparedAttributes).describe('All attributes from now on; null clears them.') })
	.meta({
		id: 'ResourceInstanceUpdate',
		description: 'The fields of an instance that may change; `attributes` are replaced as a whole.',
	});
export type ResourceInstanceUpdate = z.output<typeof ResourceInstanceUpdate>;

/**
 * The most instances of one bulk call. Each call is one unit, and no other write to the environment runs meanwhile.
 */
export const maxBulkInstances = 3000;

/** Many instances to create or replace, each named by its resource and key. */
export const ResourceInstanceBulkReplace = operations(
	ResourceInstanceCreate,
	maxBulkInstances,
	'resource instances',
).meta({
	id: 'ResourceInstanceReplaceBulkOperation',
	description: 'Many instances to create or replace, each named by its resource and key.',
});
export type ResourceInstanceBulkReplace = z.output<typeof ResourceInstanceBulkReplace>;

/** Many instances to delete, each by `<resource key>:<instance key>` or by id. */
export const ResourceInstanceBulkRemove = idents(maxBulkInstances, 'resource instances').meta({
	id: 'ResourceInstanceDeleteBulkOperation',
	description: 'Many instances to delete, each by `<resource key>:<instance key>` or by id.',
});
export type ResourceInstanceBulkRemove = z.output<typeof ResourceInstanceBulkRemove>;

/** Whether one instance is shown with its relationships. */
export const ResourceInstanceDetailQuery = z.object({
	detailed: Flag.describe('Show the relationships of the instance.'),
});
export type ResourceInstanceDetailQuery = z.output<typeof ResourceInstanceDetailQuery>;

const filters = {
	tenant: References.describe('Only instances in these tenants (ids or keys); may be repeated.'),
	resource: References.describe('Only instances of these resources (ids or keys); may be repeated.'),
	search: Searches.describe('Part of the key or of `<resource key>:<instance key>`, or an id; may be repeated.'),
	...pageShape,
};

/**
 * The instances that a detailed list asks for, with any of the given values for each filter. A value that names nothing
 * matches nothing.
 */
export const ResourceInstanceDetailedListQuery = z.object(filters);
export type ResourceInstanceDetailedListQuery = z.output<typeof ResourceInstanceDetailedListQuery>;

/** Which instances a list asks for. */
export const ResourceInstanceQuery = z.object({
	...filters,
	detailed: Flag.describe('Show the relationships of each instance.'),
	include_total_count: Flag.describe(
		'Answer an object with `data`, `total_count` and `page_count` in place of a plain array.',
	),
});
export type ResourceInstanceQuery = z.output<typeof ResourceInstanceQuery>;

/** A relationship of an instance, whichever side the instance is on. */
export const ResourceInstanceRelationship = z
	.object({
		subject: z.string().describe('The subject, as `<resource key>:<instance key>`.'),
		relation: z.string().describe('The key of the relation.'),
		object: z.string().describe('The object, as `<resource key>:<instance key>`.'),
	})
	.meta({
		id: 'ResourceInstanceRelationship',
		description: 'A relationship of an instance, whichever side the instance is on.',
	});
export type ResourceInstanceRelationship = z.input<typeof ResourceInstanceRelationship>;

/** A resource instance; `relationships` only where details were asked for. */
export const ResourceInstanceRead = z
	.object({
		...environmentObject,
		key: z.string().describe('The key, unique among the instances of the resource.'),
		resource: z.string().describe('The key of the resource.'),
		resource_id: Uuid.describe('The id of the resource.'),
		tenant: z.string().describe('The key of the tenant.'),
		tenant_id: Uuid.describe('The id of the tenant.'),
		attributes: StoredObject.describe('Its attributes, which conditions compare.'),
		relationships: z
			.array(ResourceInstanceRelationship)
			.optional()
			.describe('All relationships that it is part of; only where details were asked for.'),
	})
	.meta({
		id: 'ResourceInstanceRead',
		description: 'A resource instance; `relationships` only where details were asked for.',
	});
export type ResourceInstanceRead = z.input<typeof ResourceInstanceRead>;
