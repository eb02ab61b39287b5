import { z } from 'zod';
import { ComparedAttributes } from './attributes.js';
import { idents, operations } from './bulk.js';
import { clearable, defaulted, environmentObject, Key, Reference, StoredObject, Uuid } from './common.js';
import { Flag, pageShape, References, Searches } from './query.js';

/** A new resource instance: one thing of a resource type, in one tenant. */
export const ResourceInstanceCreate = z
	.object({
		key: Key,
		resource: Reference,
		tenant: Reference,
		attributes: defaulted(ComparedAttributes, () => ({})),
	})
	.meta({ id: 'ResourceInstanceCreate' });
export type ResourceInstanceCreate = z.output<typeof ResourceInstanceCreate>;

/** The fields of an instance that may change; `attributes` are replaced as a whole. */
export const ResourceInstanceUpdate = z
	.object({ attributes: clearable(ComparedAttributes) })
	.meta({ id: 'ResourceInstanceUpdate' });
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
).meta({ id: 'ResourceInstanceReplaceBulkOperation' });
export type ResourceInstanceBulkReplace = z.output<typeof ResourceInstanceBulkReplace>;

/** Many instances to delete, each by `<resource key>:<instance key>` or by id. */
export const ResourceInstanceBulkRemove = idents(maxBulkInstances, 'resource instances').meta({
	id: 'ResourceInstanceDeleteBulkOperation',
});
export type ResourceInstanceBulkRemove = z.output<typeof ResourceInstanceBulkRemove>;

/** Whether one instance is shown with its relationships. */
export const ResourceInstanceDetailQuery = z.object({ detailed: Flag });
export type ResourceInstanceDetailQuery = z.output<typeof ResourceInstanceDetailQuery>;

const filters = { tenant: References, resource: References, search: Searches, ...pageShape };

/**
 * The instances that a detailed list asks for, with any of the given values for each filter. A value that names nothing
 * matches nothing.
 */
export const ResourceInstanceDetailedListQuery = z.object(filters);
export type ResourceInstanceDetailedListQuery = z.output<typeof ResourceInstanceDetailedListQuery>;

/** Which instances a list asks for. */
export const ResourceInstanceQuery = z.object({ ...filters, detailed: Flag, include_total_count: Flag });
export type ResourceInstanceQuery = z.output<typeof ResourceInstanceQuery>;

/** A relationship of an instance, whichever side the instance is on. */
export const ResourceInstanceRelationship = z
	.object({ subject: z.string(), relation: z.string(), object: z.string() })
	.meta({ id: 'ResourceInstanceRelationship' });
export type ResourceInstanceRelationship = z.input<typeof ResourceInstanceRelationship>;

/** A resource instance; `relationships` only where details were asked for. */
export const ResourceInstanceRead = z
	.object({
		...environmentObject,
		key: z.string(),
		resource: z.string(),
		resource_id: Uuid,
		tenant: z.string(),
		tenant_id: Uuid,
		attributes: StoredObject,
		relationships: z.array(ResourceInstanceRelationship).optional(),
	})
	.meta({ id: 'ResourceInstanceRead' });
export type ResourceInstanceRead = z.input<typeof ResourceInstanceRead>;
