import { z } from 'zod';
import { Reference, Uuid } from '../common.js';
import { describedFields, named, namedObject } from '../named.js';

export const RelationCreate = named(
	'RelationCreate',
	'A new relation, from instances of the subject resource to instances of the resource in the path.',
	{
		...describedFields('Relation', 'relations in the resource'),
		subject_resource: Reference.describe('Subject resource: id or key.'),
	},
);
export type RelationCreate = z.output<typeof RelationCreate>;

export const RelationRead = named('RelationRead', 'A relation, with both resources by id and by key.', {
	...namedObject('relations in the resource'),
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
