import { z } from 'zod';
import { defaulted, environmentObject, Reference } from '../common.js';
import { pageShape, Searches } from '../query.js';
import { granting } from './granting.js';
import { Permission } from './role.js';

const flag = defaulted(z.boolean(), () => false);

const rule = {
	user_set: Reference.meta({ description: 'An id (UUID) or a key of a user set; with `is_role`, of a tenant role.' }),
	permission: Permission,
	resource_set: Reference.meta({
		description: 'An id (UUID) or a key of a resource set; with `is_resource`, of a resource.',
	}),
	is_role: flag.describe('Whether `user_set` names a tenant role; false when left out.'),
	is_resource: flag.describe('Whether `resource_set` names a resource; false when left out.'),
};

/** A rule to create: whoever the user set selects may do the action on what the resource set selects. */
export const SetRuleCreate = granting(rule, ['key']).meta({
	id: 'ConditionSetRuleCreate',
	description: 'A rule to create: whoever the user set selects may do the action on what the resource set selects.',
});
export type SetRuleCreate = z.output<typeof SetRuleCreate>;

/** A rule to delete. */
export const SetRuleRemove = z.object(rule).meta({ id: 'ConditionSetRuleRemove', description: 'A rule to delete.' });
export type SetRuleRemove = z.output<typeof SetRuleRemove>;

/**
 * The rules that a list asks for, with any of the given values for each filter. A value that names nothing matches
 * nothing. Empty values are ignored.
 */
export const SetRuleQuery = z.object({
	user_set: Searches.describe('Only rules of these user sets (ids or keys); may be repeated.'),
	permission: Searches.describe(
		'Only rules of these permissions: `<resource key>:<action key>`, the id of an action, or the key of actions ' +
			'of any resource; may be repeated.',
	),
	resource_set: Searches.describe('Only rules of these resource sets (ids or keys); may be repeated.'),
	...pageShape,
});
export type SetRuleQuery = z.output<typeof SetRuleQuery>;

/** A rule, by keys; `permission` is `<resource key>:<action key>`. */
export const SetRuleRead = z
	.object({
		...environmentObject,
		key: z.string().describe('A key that is made of those of its parts.'),
		user_set: z.string().describe('The key of the user set; `__autogen_<role key>` stands for a role.'),
		permission: z.string().describe('What the users may do, as `<resource key>:<action key>`.'),
		resource_set: z.string().describe('The key of the resource set; `__autogen_<resource key>` stands for a resource.'),
	})
	.meta({ id: 'ConditionSetRuleRead', description: 'A rule, by keys; `permission` is `<resource key>:<action key>`.' });
export type SetRuleRead = z.input<typeof SetRuleRead>;
