import { z } from 'zod';
import { clearable, environmentObject, Key, optional, Text, Uuid } from '../common.js';
import { named } from '../named.js';

export const AttributeType = z
	.enum(['bool', 'number', 'string', 'time', 'array', 'json', 'object', 'object_array'])
	.meta({ id: 'AttributeType', description: 'Attribute value type.' });

export const ResourceAttributeCreate = named(
	'ResourceAttributeCreate',
	'A new resource attribute, or a new user attribute on the resource `__user`.',
	{
		key: Key.describe('Key, unique among the attributes in the resource.'),
		type: AttributeType.describe('Attribute value type.'),
		description: optional(Text).describe('Attribute description. Null counts as absent.'),
	},
);

export const ResourceAttributeUpdate = named('ResourceAttributeUpdate', 'Attribute fields to change.', {
	type: optional(AttributeType).describe('Attribute value type. Null counts as absent.'),
	description: clearable(Text).describe('Attribute description; null clears it.'),
});
export type ResourceAttributeUpdate = z.output<typeof ResourceAttributeUpdate>;

export const ResourceAttributeRead = named('ResourceAttributeRead', 'A resource attribute.', {
	...environmentObject,
	key: z.string().describe('Key, unique among the attributes in the resource.'),
	type: AttributeType.describe('Attribute value type.'),
	resource_id: Uuid.describe('Resource id.'),
	resource_key: z.string().describe('Resource key; `__user` for user attributes.'),
	built_in: z.boolean().describe('True for a built-in attribute, which cannot be changed.'),
	description: z.string().nullable().describe('Attribute description.'),
});
export type ResourceAttributeRead = z.input<typeof ResourceAttributeRead>;
