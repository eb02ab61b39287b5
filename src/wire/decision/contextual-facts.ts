/** Contextual facts: facts in a check that are never stored. */

import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { namedStrict } from '../named.js';

/** Maximum number of contextual facts per check. */
export const maxContextualFacts = 20;

const tooMany = `must have at most ${maxContextualFacts} contextual facts`;

const ContextualAssignment = namedStrict('ContextualRoleAssignment', 'A role on an instance, for one check.', {
	user: z.string().describe('User key. Roles of other users do not affect the check.'),
	role: z.string().describe("Role key on the instance's resource."),
	resource_instance: z.string().describe('Instance, as `<resource key>:<instance key>`.'),
});
export type ContextualAssignment = z.output<typeof ContextualAssignment>;

const ContextualTuple = namedStrict('ContextualRelationshipTuple', 'A relationship, for one check.', {
	subject: z.string().describe('Subject, as `<resource key>:<instance key>`.'),
	relation: z.string().describe("Relation key on the object's resource."),
	object: z.string().describe('Object, as `<resource key>:<instance key>`.'),
});
export type ContextualTuple = z.output<typeof ContextualTuple>;

/** Unknown fields are rejected, because ignoring a condition or an expiry would grant too much access. */
export const ContextualFacts = namedStrict(
	'ContextualFacts',
	`Facts for one check, at most ${maxContextualFacts} together. They are not stored.`,
	{
		role_assignments: boundedArray(ContextualAssignment, maxContextualFacts, tooMany)
			.nullish()
			.describe('Roles on instances, in addition to the stored roles.'),
		relationship_tuples: boundedArray(ContextualTuple, maxContextualFacts, tooMany)
			.nullish()
			.describe('Relationships between stored instances, in addition to the stored relationships.'),
	},
).refine(
	({ role_assignments, relationship_tuples }) =>
		(role_assignments?.length ?? 0) + (relationship_tuples?.length ?? 0) <= maxContextualFacts,
	tooMany,
);
export type ContextualFacts = z.output<typeof ContextualFacts>;

/**
 * Field of requests without support for contextual facts. It is rejected, because the response would ignore the facts.
 */
export const noContextualFacts = z
	.null('contextual facts are not supported here: checks, evaluations and listings for one user accept them')
	.optional()
	.describe('Must be absent: contextual facts are for checks, evaluations and listings for one user.');
