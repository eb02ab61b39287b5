/** Roles on the resource that user sets name. A set that excludes a role loses members when the role gains holders. */
import { parseConditions } from '../condition/parse/grammar.js';
import { type NamedRole, rolesNamedIn } from '../condition/resource-roles.js';
import { roleName } from '../cycle.js';
import { groupBy } from '../group-by.js';
import type { ConditionSet, Schema } from '../model.js';

/** Returns the roles that a set names itself, without the roles of its parents. */
export function rolesNamedBy({ type, resource, selects }: ConditionSet): readonly NamedRole[] {
	if (type !== 'userset' || resource === null || !('conditions' in selects)) return [];
	const parsed = parseConditions(selects.conditions, { type, bound: true });
	return 'condition' in parsed ? rolesNamedIn(parsed.condition) : [];
}

/** Returns the keys of the user sets that name any of these roles (see `roleName`), directly or through a parent. */
export function userSetsNaming({ condition_sets }: Schema, roles: ReadonlySet<string>): ReadonlySet<string> {
	const users = condition_sets.filter(({ type }) => type === 'userset');
	const children = groupBy(users, ({ parent }) => parent);
	const found = new Set(
		users
			.filter((set) => rolesNamedBy(set).some(({ role }) => roles.has(roleName({ type: set.resource ?? '', role }))))
			.map(({ key }) => key),
	);
	// A Set also iterates over items added during the iteration, so it serves as the queue.
	for (const key of found) {
		for (const child of children.get(key) ?? []) found.add(child.key);
	}
	return found;
}
