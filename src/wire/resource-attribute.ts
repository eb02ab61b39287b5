import { z } from 'zod';
import { clearable, environmentObject, Key, optional, Text, Uuid } from './common.js';

/** What values an attribute takes. */
export const AttributeType = z
	.enum(['bool', 'number', 'string', 'time', 'array', 'json', 'object', 'object_array'])
	.meta({ id: 'AttributeType' });
export type AttributeType = z.output<typeof AttributeType>;

/** A new attribute of a resource, or of users on the resource `__user`. */
export const ResourceAttributeCreate = z
	.object({
		key: Key,
		type: AttributeType,
		description: optional(Text),
	})
	.meta({ id: 'ResourceAttributeCreate' });
export type ResourceAttributeCreate = z.output<typeof ResourceAttributeCreate>;

/** The fields of an attribute that may change. */
export const ResourceAttributeUpdate = z
	.object({
		type: optional(AttributeType),
		description: clearable(Text),
	})
	.meta({ id: 'ResourceAttributeUpdate' });
export type ResourceAttributeUpdate = z.output<typeof ResourceAttributeUpdate>;

/** An attribute of a resource. */
export const ResourceAttributeRead = z
	.object({
		...environmentObject,
		key: z.string(),
		type: AttributeType,
		resource_id: Uuid,
		resource_key: z.string(),
		built_in: z.boolean(),
		description: z.string().nullable(),
	})
	.meta({ id: 'ResourceAttributeRead' });
export type ResourceAttributeRead = z.input<typeof ResourceAttributeRead>;
