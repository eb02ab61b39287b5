import { z } from 'zod';
import { environmentObject, Key, Name, optional, Reference, Text, Uuid } from '../common.js';

/** A new relation, from instances of the subject resource to instances of the resource in the path. */
export const RelationCreate = z
	.object({
		key: Key.describe('The key, unique among the relations of the resource.'),
		name: Name.describe('A name for people.'),
		description: optional(Text).describe('What the relation means. Null counts as absent.'),
		subject_resource: Reference.describe('The resource of the subjects: its id or key.'),
	})
	.meta({
		id: 'RelationCreate',
		description: 'A new relation, from instances of the subject resource to instances of the resource in the path.',
	});
export type RelationCreate = z.output<typeof RelationCreate>;

/** A relation, with both its resources by id and by key. */
export const RelationRead = z
	.object({
		...environmentObject,
		key: z.string().describe('The key, unique among the relations of the resource.'),
		name: z.string().describe('A name for people.'),
		description: z.string().nullable().describe('What the relation means.'),
		object_resource_id: Uuid.describe('The id of the resource of the objects.'),
		object_resource: z.string().describe('The key of the resource of the objects.'),
		subject_resource_id: Uuid.describe('The id of the resource of the subjects.'),
		subject_resource: z.string().describe('The key of the resource of the subjects.'),
	})
	.meta({ id: 'RelationRead', description: 'A relation, with both its resources by id and by key.' });
export type RelationRead = z.input<typeof RelationRead>;

/** A relation as the resource of its objects shows it: `resource` is that of its subjects. */
export const RelationBlockRead = z
	.object({
		resource_id: Uuid.describe('The id of the resource of the subjects.'),
		resource: z.string().describe('The key of the resource of the subjects.'),
		relation_name: z.string().nullable().describe('The name of the relation.'),
		description: z.string().nullable().describe('What the relation means.'),
	})
	.meta({
		id: 'RelationBlockRead',
		description: 'A relation as the resource of its objects shows it: `resource` is that of its subjects.',
	});
export type RelationBlockRead = z.input<typeof RelationBlockRead>;
