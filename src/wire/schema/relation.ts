import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { defaulted, optional, Reference, Uuid } from '../common.js';
import { changedFields, describedFields, named, namedObject } from '../named.js';

export const RelationCreate = named(
	'RelationCreate',
	'A new relation, from instances of the subject resource to instances of the resource in the path.',
	{
		...describedFields('Relation', 'relations in the resource'),
		subject_resource: Reference.describe('Subject resource: id or key.'),
		grant_conditions: defaulted(boundedArray(Reference), () => []).describe(
			'Condition sets of type `grant` under which relationships may be created (ids or keys); none by default.',
		),
	},
);
export type RelationCreate = z.output<typeof RelationCreate>;

export const RelationUpdate = named('RelationUpdate', 'Changes to a relation. Absent fields keep their values.', {
	...changedFields('Relation'),
	grant_conditions: optional(boundedArray(Reference)).describe(
		'Complete new list of condition sets under which relationships may be created (ids or keys). Null counts as absent.',
	),
});
export type RelationUpdate = z.output<typeof RelationUpdate>;

/** Declared conditions in a response. Absent if there are none. */
const shownConditions = {
	grant_conditions: z
		.array(z.string())
		.optional()
		.describe('Keys of the condition sets under which relationships may be created; absent if there are none.'),
};

export const RelationRead = named('RelationRead', 'A relation, with both resources by id and by key.', {
	...namedObject('relations in the resource'),
	description: z.string().nullable().describe('Relation description.'),
	object_resource_id: Uuid.describe('Object resource id.'),
	object_resource: z.string().describe('Object resource key.'),
	subject_resource_id: Uuid.describe('Subject resource id.'),
	subject_resource: z.string().describe('Subject resource key.'),
	...shownConditions,
});
export type RelationRead = z.input<typeof RelationRead>;

export const RelationBlockRead = named(
	'RelationBlockRead',
	'A relation, nested in its object resource: `resource` is the subject resource.',
	{
		resource_id: Uuid.describe('Subject resource id.'),
		resource: z.string().describe('Subject resource key.'),
		relation_name: z.string().nullable().describe('Relation name.'),
		description: z.string().nullable().describe('Relation description.'),
		...shownConditions,
	},
);
export type RelationBlockRead = z.input<typeof RelationBlockRead>;
