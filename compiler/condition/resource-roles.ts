/**
 * Roles on the resource in conditions: `user.resource_roles`. A comparison names its roles, and becomes a comparison
 * for each role with the operator `array_contains`. No back end therefore needs the whole list, which would take a
 * search for every role on the resource type.
 */
import { distance } from 'fastest-levenshtein';
import { operandsIn, type RoleFormula, type RoleOperand, requiresRole } from '../role-expression.js';
import type { AttributePath, Comparison, Condition, ConditionPath } from './condition.js';
import { excerpt } from './excerpt.js';
import type { Operator } from './operator.js';
import type { ParseRun } from './parse/parse-run.js';

/** True for `user.resource_roles`. */
export function isResourceRoles({ object, path }: AttributePath): boolean {
	return object === 'user' && path[0] === 'resource_roles';
}

/** Returns the role that a comparison requires on the resource; `undefined` for any other comparison. */
export function roleRequired({ attribute, operand }: Comparison): string | undefined {
	if (!isResourceRoles(attribute) || !('value' in operand)) return undefined;
	return typeof operand.value === 'string' ? operand.value : undefined;
}

/**
 * Returns a condition as a formula over roles on the resource. All other comparisons become parts that are always true,
 * so the formula is exact only for a condition that compares nothing but roles.
 */
export function roleFormulaOf(condition: Condition, negated = false): RoleFormula {
	if (condition.kind === 'not') return roleFormulaOf(condition.condition, !negated);
	if (condition.kind === 'comparison') {
		const role = roleRequired(condition);
		return role === undefined ? { kind: 'all', parts: [] } : { kind: 'role', role, negated, at: condition.at };
	}
	// A negated `all` is an `any` over negated parts, and vice versa.
	const kind = (condition.kind === 'all') === negated ? 'any' : 'all';
	return { kind, parts: condition.conditions.map((one) => roleFormulaOf(one, negated)) };
}

/** Returns all roles that a condition requires or excludes on the resource, in order. */
export function rolesNamedIn(condition: Condition): readonly RoleOperand[] {
	return operandsIn(roleFormulaOf(condition));
}

/**
 * True if a condition compares nothing but roles on the resource, or has no comparisons.
 */
function comparesOnlyRoles(condition: Condition): boolean {
	if (condition.kind === 'not') return comparesOnlyRoles(condition.condition);
	return condition.kind === 'comparison'
		? roleRequired(condition) !== undefined
		: condition.conditions.every(comparesOnlyRoles);
}

/**
 * True if a rule acts like a role on the resource: its user set requires such a role, and neither set compares anything
 * else. The arguments are the conditions of the sets and all their ancestors.
 */
export function actsAsRole(user: readonly Condition[], resource: readonly Condition[]): boolean {
	return user.some((one) => requiresRole(roleFormulaOf(one))) && [...user, ...resource].every(comparesOnlyRoles);
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
