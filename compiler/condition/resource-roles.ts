/**
 * Roles on the resource in conditions: `user.resource_roles`. A comparison names its roles, and becomes a comparison for
 * each role with the operator `array_contains`. No back end therefore needs the whole list, which would take a search
 * for every role on the resource type.
 */
import { distance } from 'fastest-levenshtein';
import type { AttributePath, Comparison, Condition, ConditionPath } from './condition.js';
import { excerpt } from './excerpt.js';
import type { Operator } from './operator.js';
import type { ParseRun } from './parse/parse-run.js';

/** A role in a condition. */
export interface NamedRole {
	readonly role: string;
	/** Its place in the conditions. */
	readonly at: ConditionPath;
	/** True under an odd number of `not`. */
	readonly negated: boolean;
}

/** True for `user.resource_roles`. */
export function isResourceRoles({ object, path }: AttributePath): boolean {
	return object === 'user' && path[0] === 'resource_roles';
}

/** Returns the role that a comparison requires on the resource; `undefined` for any other comparison. */
export function roleRequired({ attribute, operand }: Comparison): string | undefined {
	if (!isResourceRoles(attribute) || !('value' in operand)) return undefined;
	return typeof operand.value === 'string' ? operand.value : undefined;
}

/** Returns all roles that a condition requires or excludes on the resource, in order. */
export function rolesNamedIn(condition: Condition, negated = false): readonly NamedRole[] {
	if (condition.kind === 'not') return rolesNamedIn(condition.condition, !negated);
	if (condition.kind !== 'comparison') return condition.conditions.flatMap((one) => rolesNamedIn(one, negated));
	const role = roleRequired(condition);
	return role === undefined ? [] : [{ role, at: condition.at, negated }];
}

/**
 * True if a condition compares nothing but roles on the resource. For a condition without comparisons, the result is
 * true too.
 */
export function comparesOnlyRoles(condition: Condition): boolean {
	if (condition.kind === 'not') return comparesOnlyRoles(condition.condition);
	return condition.kind === 'comparison'
		? roleRequired(condition) !== undefined
		: condition.conditions.every(comparesOnlyRoles);
}

/**
 * True if a condition has the result `wanted` only for holders of a role on the resource. Each alternative then names a
 * role outside `not`.
 */
export function requiresRole(condition: Condition, wanted = true): boolean {
	if (condition.kind === 'not') return requiresRole(condition.condition, !wanted);
	if (condition.kind === 'comparison') return wanted && roleRequired(condition) !== undefined;
	// A negated `all` is an `any` over negated conditions, and vice versa.
	const requires = (one: Condition) => requiresRole(one, wanted);
	return (condition.kind === 'all') === wanted
		? condition.conditions.some(requires)
		: condition.conditions.every(requires);
}

/** True if a condition that compares only roles holds for a user with these roles on the resource. */
export function holdsWithRoles(condition: Condition, roles: ReadonlySet<string>): boolean {
	if (condition.kind === 'not') return !holdsWithRoles(condition.condition, roles);
	if (condition.kind === 'comparison') return roles.has(roleRequired(condition) ?? '');
	const holds = (one: Condition) => holdsWithRoles(one, roles);
	return condition.kind === 'all' ? condition.conditions.every(holds) : condition.conditions.some(holds);
}

/**
 * True if a rule acts like a role on the resource: its user set requires such a role, and neither set compares anything
 * else. The arguments are the conditions of the sets and all their ancestors.
 */
export function actsAsRole(user: readonly Condition[], resource: readonly Condition[]): boolean {
	return user.some((one) => requiresRole(one)) && [...user, ...resource].every(comparesOnlyRoles);
}

/** Reads a comparison of `user.resource_roles`. If it is invalid, records a problem and returns null. */
export function readRoleComparison(
	run: ParseRun,
	attribute: AttributePath,
	operator: Operator,
	value: unknown,
	at: ConditionPath,
): Condition | null {
	const compare = (role: unknown, place: ConditionPath): Comparison | null => {
		if (!run.enter(place, 0)) return null;
		if (typeof role === 'string') {
			return { kind: 'comparison', attribute, operator: 'array_contains', operand: { value: role }, at: place };
		}
		run.refuse('wrong_operand', place, `must be the key of a role on the resource, not ${excerpt(role)}`, role);
		return null;
	};
	if (operator.name === 'array_contains') return compare(value, at);
	const kind = kinds.get(operator.name);
	if (kind === undefined) {
		const msg =
			`\`user.resource_roles\` is compared with role keys by \`array_contains\`, \`array_superset\` or ` +
			`\`array_intersect\`, not by \`${operator.name}\``;
		run.refuse('wrong_operand', at, msg, operator.name);
		return null;
	}
	if (!Array.isArray(value) || value.length === 0) {
		const msg = `the operand of \`${operator.name}\` must be an array of role keys, not ${excerpt(value)}`;
		run.refuse('wrong_operand', at, msg, value);
		return null;
	}
	const conditions = value.flatMap((role: unknown, index) => compare(role, [...at, index]) ?? []);
	return conditions.length === value.length ? { kind, conditions } : null;
}

/** The operators for several roles. */
const kinds: ReadonlyMap<string, 'all' | 'any'> = new Map([
	['array_superset', 'all'],
	['array_intersect', 'any'],
]);

/** Returns the message for a role that the resource type does not have. */
export function unknownRoleMessage(resource: string, role: string, known: readonly string[]): string {
	const [nearest] = known
		.map((key) => ({ key, changes: distance(key.slice(0, maxCompared), role.slice(0, maxCompared)) }))
		.sort((left, right) => left.changes - right.changes);
	const hint = nearest === undefined ? '' : `: did you mean ${excerpt(nearest.key)}?`;
	return `the resource ${excerpt(resource)} has no role ${excerpt(role)}${hint || '; tenant roles are in `user.roles`'}`;
}

/** Number of characters to compare. */
const maxCompared = 40;
