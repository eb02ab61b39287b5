import { z } from 'zod';
import { defaulted, environmentObject, Reference } from './common.js';
import { granting } from './granting.js';
import { pageShape, Searches } from './query.js';
import { Permission } from './role.js';

const flag = defaulted(z.boolean(), () => false);

const rule = {
	user_set: Reference.meta({ description: 'An id (UUID) or a key of a user set; with `is_role`, of a tenant role.' }),
	permission: Permission,
	resource_set: Reference.meta({
		description: 'An id (UUID) or a key of a resource set; with `is_resource`, of a resource.',
	}),
	is_role: flag,
	is_resource: flag,
};

/** A rule to create: whoever the user set selects may do the action on what the resource set selects. */
export const SetRuleCreate = granting(rule, ['key']).meta({ id: 'ConditionSetRuleCreate' });
export type SetRuleCreate = z.output<typeof SetRuleCreate>;

/** A rule to delete. */
export const SetRuleRemove = z.object(rule).meta({ id: 'ConditionSetRuleRemove' });
export type SetRuleRemove = z.output<typeof SetRuleRemove>;

/**
 * The rules that a list asks for, with any of the given values for each filter. A value that names nothing matches
 * nothing. Empty values are ignored.
 */
export const SetRuleQuery = z.object({
	user_set: Searches,
	permission: Searches,
	resource_set: Searches,
	...pageShape,
});
export type SetRuleQuery = z.output<typeof SetRuleQuery>;

/** A rule, by keys; `permission` is `<resource key>:<action key>`. */
export const SetRuleRead = z
	.object({
		...environmentObject,
		key: z.string(),
		user_set: z.string(),
		permission: z.string(),
		resource_set: z.string(),
	})
	.meta({ id: 'ConditionSetRuleRead' });
export type SetRuleRead = z.input<typeof SetRuleRead>;
