import { z } from 'zod';
import { environmentObject, Key, Name, optional, Reference, Text, Uuid } from './common.js';

/** A new relation, from instances of the subject resource to instances of the resource in the path. */
export const RelationCreate = z
	.object({
		key: Key,
		name: Name,
		description: optional(Text),
		subject_resource: Reference,
	})
	.meta({ id: 'RelationCreate' });
export type RelationCreate = z.output<typeof RelationCreate>;

/** A relation, with both its resources by id and by key. */
export const RelationRead = z
	.object({
		...environmentObject,
		key: z.string(),
		name: z.string(),
		description: z.string().nullable(),
		object_resource_id: Uuid,
		object_resource: z.string(),
		subject_resource_id: Uuid,
		subject_resource: z.string(),
	})
	.meta({ id: 'RelationRead' });
export type RelationRead = z.input<typeof RelationRead>;

/** A relation as the resource of its objects shows it: `resource` is that of its subjects. */
export const RelationBlockRead = z
	.object({
		resource_id: Uuid,
		resource: z.string(),
		relation_name: z.string().nullable(),
		description: z.string().nullable(),
	})
	.meta({ id: 'RelationBlockRead' });
export type RelationBlockRead = z.input<typeof RelationBlockRead>;
