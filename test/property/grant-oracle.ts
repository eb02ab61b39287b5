import type { InstanceAssignment, Model } from '../../compiler/model.js';
import { selects } from './condition-oracle.js';
import type { Query } from './query.js';

/** Check fields read by grant conditions. */
export type Asked = Pick<Query, 'user' | 'context'>;

/** True if an assignment counts in a check: its condition holds, or it has none. */
export function counts({ schema, facts }: Model, { condition, user, type, role }: InstanceAssignment, asked: Asked) {
	if (condition === undefined) return true;
	const declared = schema.resources
		.find(({ key }) => key === type)
		?.roles.find(({ key }) => key === role)?.grant_conditions;
	const set = schema.grant_conditions?.find(({ key }) => key === condition.set);
	if (set === undefined || !declared?.includes(set.key)) return false;
	const stored = facts.user_attributes.find((row) => row.user === user)?.attributes ?? {};
	return selects(set.conditions, {
		user: { ...stored, ...asked.user.attributes },
		resource: {},
		tenant: {},
		context: asked.context ?? {},
		grant: condition.values,
		now: 1_000,
	});
}
