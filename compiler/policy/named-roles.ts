/** Roles on the resource that user sets name. A set that excludes a role loses members when the role gains holders. */
import { rolesNamedBy } from '../condition/named-roles.js';
import type { NamedRole } from '../condition/resource-roles.js';
import { roleName } from '../cycle.js';
import { groupBy } from '../group-by.js';
import type { ConditionSet, Schema } from '../model.js';

/** Returns the roles that a set names itself, without the roles of its parents. */
export function rolesNamedBySet({ type, resource, selects }: ConditionSet): readonly NamedRole[] {
	const isBound = type === 'userset' && resource !== null;
	return isBound && 'conditions' in selects ? rolesNamedBy(selects.conditions) : [];
}

/** Returns the keys of the user sets that name any of these roles (see `roleName`), directly or through a parent. */
export function userSetsNaming({ condition_sets }: Schema, roles: ReadonlySet<string>): ReadonlySet<string> {
	const users = condition_sets.filter(({ type }) => type === 'userset');
	const children = groupBy(users, ({ parent }) => parent);
	const found = new Set(
		users
			.filter((set) => rolesNamedBySet(set).some(({ role }) => roles.has(roleName({ type: set.resource ?? '', role }))))
			.map(({ key }) => key),
	);
	// A Set also iterates over items added during the iteration, so it serves as the queue.
	for (const key of found) {
		for (const child of children.get(key) ?? []) found.add(child.key);
	}
	return found;
}
