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

/** A rule to make: whom the user set selects may do the action on what the resource set selects. */
export const SetRuleCreate = granting(rule, ['key']).meta({ id: 'ConditionSetRuleCreate' });
export type SetRuleCreate = z.output<typeof SetRuleCreate>;

/** A rule to take away. */
export const SetRuleRemove = z.object(rule).meta({ id: 'ConditionSetRuleRemove' });
export type SetRuleRemove = z.output<typeof SetRuleRemove>;

/**
 * Which rules a list asks for: any value of a name, every name. Values that name nothing match nothing, empty ones
 * are none.
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
