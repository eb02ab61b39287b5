/** Roles on the resource that user sets name. A set that excludes a role loses members when the role gains holders. */
import type { Condition } from '../condition/condition.js';
import { rolesNamedBy } from '../condition/named-roles.js';
import { parseConditions } from '../condition/parse/grammar.js';
import { actsAsRole } from '../condition/resource-roles.js';
import { roleName } from '../cycle.js';
import { groupBy } from '../group-by.js';
import type { ConditionSet, Schema, SetRule } from '../model.js';
import type { RoleOperand } from '../role-expression.js';

/** Returns the roles that a set names itself, without the roles of its parents. */
export function rolesNamedBySet({ type, resource, selects }: ConditionSet): readonly RoleOperand[] {
	const isBound = type === 'userset' && resource !== null;
	return isBound && 'conditions' in selects ? rolesNamedBy(selects.conditions) : [];
}

/** Returns a set's own condition; `undefined` for an automatic set and for unreadable conditions. */
function conditionOf({ type, resource, selects }: ConditionSet): Condition | undefined {
	if (!('conditions' in selects)) return undefined;
	const parsed = parseConditions(selects.conditions, { type, bound: resource !== null });
	return 'condition' in parsed ? parsed.condition : undefined;
}

/** Returns a test for rules that act like roles on the resource (see `actsAsRole`). */
export function rulesLikeRoles({ condition_sets }: Schema): (rule: SetRule) => boolean {
	const sets = new Map(condition_sets.map((set) => [JSON.stringify([set.type, set.key]), set]));
	/** Returns the conditions of a set and its ancestors; `undefined` if any of these cannot be read. */
	const conditionsOf = (type: ConditionSet['type'], key: string | null): readonly Condition[] | undefined => {
		if (key === null) return [];
		const set = sets.get(JSON.stringify([type, key]));
		if (set === undefined) return undefined;
		if ('resource' in set.selects) return [];
		const [own, above] = [conditionOf(set), conditionsOf(type, set.parent)];
		return own === undefined || above === undefined ? undefined : [own, ...above];
	};
	return ({ user_set, resource_set }) => {
		if ((sets.get(JSON.stringify(['userset', user_set]))?.resource ?? null) === null) return false;
		const [user, resource] = [conditionsOf('userset', user_set), conditionsOf('resourceset', resource_set)];
		return user !== undefined && resource !== undefined && actsAsRole(user, resource);
	};
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
