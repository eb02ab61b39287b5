import type { AssignedCondition, InstanceAssignment, Model, Relationship } from '../../compiler/model.js';
import { selects } from './condition-oracle.js';
import type { Query } from './query.js';

/** Fields of a check that grant conditions compare. */
export type Asked = Pick<Query, 'user' | 'context'>;

/** True if an assignment counts in a check: its condition holds, or it has none. */
export function counts(model: Model, { condition, type, role }: InstanceAssignment, asked: Asked): boolean {
	const declaring = model.schema.resources.find(({ key }) => key === type)?.roles.find(({ key }) => key === role);
	return holds(model, condition, declaring?.grant_conditions, asked);
}

/** True if a relationship counts in a check: its condition holds, or it has none. */
export function relates(model: Model, { condition, type, relation }: Relationship, asked: Asked): boolean {
	const along = model.schema.resources.find(({ key }) => key === type)?.relations.find(({ key }) => key === relation);
	return holds(model, condition, along?.grant_conditions, asked);
}

function holds(
	{ schema, facts }: Model,
	condition: AssignedCondition | undefined,
	declared: readonly string[] | undefined,
	asked: Asked,
): boolean {
	if (condition === undefined) return true;
	const set = schema.grant_conditions?.find(({ key }) => key === condition.set);
	if (set === undefined || !declared?.includes(set.key)) return false;
	const stored = facts.user_attributes.find((row) => row.user === asked.user.key)?.attributes ?? {};
	return selects(set.conditions, {
		user: { ...stored, ...asked.user.attributes },
		resource: {},
		tenant: {},
		context: asked.context ?? {},
		grant: condition.values,
		now: 1_000,
	});
}
