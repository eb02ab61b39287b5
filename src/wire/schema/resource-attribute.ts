import { z } from 'zod';
import { clearable, environmentObject, Key, optional, Text, Uuid } from '../common.js';

/** What values an attribute takes. */
export const AttributeType = z
	.enum(['bool', 'number', 'string', 'time', 'array', 'json', 'object', 'object_array'])
	.meta({ id: 'AttributeType', description: 'What values an attribute takes.' });
export type AttributeType = z.output<typeof AttributeType>;

/** A new attribute of a resource, or of users on the resource `__user`. */
export const ResourceAttributeCreate = z
	.object({
		key: Key.describe('The key, unique among the attributes of the resource.'),
		type: AttributeType.describe('What values the attribute takes.'),
		description: optional(Text).describe('What the attribute says. Null counts as absent.'),
	})
	.meta({
		id: 'ResourceAttributeCreate',
		description: 'A new attribute of a resource, or of users on the resource `__user`.',
	});
export type ResourceAttributeCreate = z.output<typeof ResourceAttributeCreate>;

/** The fields of an attribute that may change. */
export const ResourceAttributeUpdate = z
	.object({
		type: optional(AttributeType).describe('What values the attribute takes. Null counts as absent.'),
		description: clearable(Text).describe('What the attribute says; null clears it.'),
	})
	.meta({ id: 'ResourceAttributeUpdate', description: 'The fields of an attribute that may change.' });
export type ResourceAttributeUpdate = z.output<typeof ResourceAttributeUpdate>;

/** An attribute of a resource. */
export const ResourceAttributeRead = z
	.object({
		...environmentObject,
		key: z.string().describe('The key, unique among the attributes of the resource.'),
		type: AttributeType.describe('What values the attribute takes.'),
		resource_id: Uuid.describe('The id of the resource.'),
		resource_key: z.string().describe('The key of the resource; `__user` for attributes of users.'),
		built_in: z.boolean().describe('Whether it comes with every environment and cannot be changed.'),
		description: z.string().nullable().describe('What the attribute says.'),
	})
	.meta({ id: 'ResourceAttributeRead', description: 'An attribute of a resource.' });
export type ResourceAttributeRead = z.input<typeof ResourceAttributeRead>;
