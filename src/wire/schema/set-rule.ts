import { z } from 'zod';
import { defaulted, environmentObject, Reference } from '../common.js';
import { named } from '../named.js';
import { pageShape, Searches } from '../query.js';
import { granting } from './granting.js';
import { Permission } from './role.js';

const flag = defaulted(z.boolean(), () => false);

const rule = {
	user_set: Reference.describe('User set id (UUID) or key; with `is_role`, tenant role id or key.'),
	permission: Permission,
	resource_set: Reference.describe('Resource set id (UUID) or key; with `is_resource`, resource id or key.'),
	is_role: flag.describe('True if `user_set` is a tenant role; defaults to false.'),
	is_resource: flag.describe('True if `resource_set` is a resource; defaults to false.'),
};

export const SetRuleCreate = granting(rule, ['key']).meta({
	id: 'ConditionSetRuleCreate',
	description: 'A rule to create: users in the user set may perform the action on resources in the resource set.',
});
export type SetRuleCreate = z.output<typeof SetRuleCreate>;

export const SetRuleRemove = named('ConditionSetRuleRemove', 'A rule to delete.', rule);
export type SetRuleRemove = z.output<typeof SetRuleRemove>;

/**
 * Filters for rules. A filter may have several values, and any value may match. A value without a matching object
 * matches no rule. Empty values are ignored.
 */
export const SetRuleQuery = z.object({
	user_set: Searches.describe('Only rules with these user sets (ids or keys); may be repeated.'),
	permission: Searches.describe(
		'Only rules with these permissions: `<resource key>:<action key>`, an ' +
			'action id, or an action key in any resource; may be repeated.',
	),
	resource_set: Searches.describe('Only rules with these resource sets (ids or keys); may be repeated.'),
	...pageShape,
});
export type SetRuleQuery = z.output<typeof SetRuleQuery>;

export const SetRuleRead = named(
	'ConditionSetRuleRead',
	'A rule, by keys; `permission` is `<resource key>:<action key>`.',
	{
		...environmentObject,
		key: z.string().describe('Key composed from the keys of its parts.'),
		user_set: z.string().describe('User set key; `__autogen_<role key>` for a role.'),
		permission: z.string().describe('Permission granted to the users, as `<resource key>:<action key>`.'),
		resource_set: z.string().describe('Resource set key; `__autogen_<resource key>` for a resource.'),
	},
);
export type SetRuleRead = z.input<typeof SetRuleRead>;
