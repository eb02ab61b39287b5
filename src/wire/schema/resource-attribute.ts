import { z } from 'zod';
import { clearable, environmentObject, Key, optional, Text, Uuid } from '../common.js';

/** Value type of an attribute. */
export const AttributeType = z
	.enum(['bool', 'number', 'string', 'time', 'array', 'json', 'object', 'object_array'])
	.meta({ id: 'AttributeType', description: 'Value type of an attribute.' });
export type AttributeType = z.output<typeof AttributeType>;

/** A new attribute of a resource, or of users on the resource `__user`. */
export const ResourceAttributeCreate = z
	.object({
		key: Key.describe('Key, unique among the attributes of the resource.'),
		type: AttributeType.describe('Value type of the attribute.'),
		description: optional(Text).describe('Meaning of the attribute. Null counts as absent.'),
	})
	.meta({
		id: 'ResourceAttributeCreate',
		description: 'A new attribute of a resource, or of users on the resource `__user`.',
	});
export type ResourceAttributeCreate = z.output<typeof ResourceAttributeCreate>;

/** Fields of an attribute to change. */
export const ResourceAttributeUpdate = z
	.object({
		type: optional(AttributeType).describe('Value type of the attribute. Null counts as absent.'),
		description: clearable(Text).describe('Meaning of the attribute; null clears it.'),
	})
	.meta({ id: 'ResourceAttributeUpdate', description: 'Fields of an attribute to change.' });
export type ResourceAttributeUpdate = z.output<typeof ResourceAttributeUpdate>;

/** An attribute of a resource. */
export const ResourceAttributeRead = z
	.object({
		...environmentObject,
		key: z.string().describe('Key, unique among the attributes of the resource.'),
		type: AttributeType.describe('Value type of the attribute.'),
		resource_id: Uuid.describe('Resource id.'),
		resource_key: z.string().describe('Resource key; `__user` for user attributes.'),
		built_in: z.boolean().describe('True for a built-in attribute, which cannot be changed.'),
		description: z.string().nullable().describe('Meaning of the attribute.'),
	})
	.meta({ id: 'ResourceAttributeRead', description: 'An attribute of a resource.' });
export type ResourceAttributeRead = z.input<typeof ResourceAttributeRead>;
