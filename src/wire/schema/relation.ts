import { z } from 'zod';
import { environmentObject, Key, Name, optional, Reference, Text, Uuid } from '../common.js';
import { named } from '../named.js';

export const RelationCreate = named(
	'RelationCreate',
	'A new relation, from instances of the subject resource to instances of the resource in the path.',
	{
		key: Key.describe('Key, unique among the relations in the resource.'),
		name: Name.describe('Display name.'),
		description: optional(Text).describe('Relation description. Null counts as absent.'),
		subject_resource: Reference.describe('Subject resource: id or key.'),
	},
);
export type RelationCreate = z.output<typeof RelationCreate>;

export const RelationRead = named('RelationRead', 'A relation, with both resources by id and by key.', {
	...environmentObject,
	key: z.string().describe('Key, unique among the relations in the resource.'),
	name: z.string().describe('Display name.'),
	description: z.string().nullable().describe('Relation description.'),
	object_resource_id: Uuid.describe('Object resource id.'),
	object_resource: z.string().describe('Object resource key.'),
	subject_resource_id: Uuid.describe('Subject resource id.'),
	subject_resource: z.string().describe('Resource key for the subjects.'),
});
export type RelationRead = z.input<typeof RelationRead>;

export const RelationBlockRead = named(
	'RelationBlockRead',
	'A relation, nested in its object resource: `resource` is the subject resource.',
	{
		resource_id: Uuid.describe('Subject resource id.'),
		resource: z.string().describe('Resource key for the subjects.'),
		relation_name: z.string().nullable().describe('Relation name.'),
		description: z.string().nullable().describe('Relation description.'),
	},
);
export type RelationBlockRead = z.input<typeof RelationBlockRead>;
