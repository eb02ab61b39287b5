/** Grant conditions: their declarations, and the roles that users may hold conditionally. */
import type { Condition } from '../condition/condition.js';
import { parseConditions } from '../condition/parse/grammar.js';
import { declaringRoles, roleLinks, roleName, withDerivedRoles } from '../cycle.js';
import { canonicalText } from '../json-writer.js';
import type { GrantCondition, Schema } from '../model.js';
import { canonical } from '../order.js';

/** Returns a condition of type `grant`; `undefined` if it cannot be read. Then it never holds. */
export function parseGrantCondition({ conditions, parameters }: Pick<GrantCondition, 'conditions' | 'parameters'>) {
	const parsed = parseConditions(conditions, { type: 'grant', bound: false, parameters: Object.keys(parameters) });
	return 'condition' in parsed ? parsed.condition : undefined;
}

/** Returns the names of declaring roles, and of all roles derived or computed from them. */
export function rolesUnderConditions(schema: Schema): ReadonlySet<string> {
	const declaring = declaringRoles(schema).map(([role]) => roleName(role));
	return declaring.length === 0 ? new Set() : withDerivedRoles(declaring, roleLinks(schema));
}

/** Returns a string for each condition. Conditions with equal strings hold in the same cases. */
export function grantConditionTexts({ grant_conditions = [] }: Schema): ReadonlyMap<string, string> {
	return new Map(
		grant_conditions.map(({ key, conditions, parameters }) => [key, canonicalText([conditions, { ...parameters }])]),
	);
}

/** Returns a string for each declaring role's conditions, keyed by role name. */
export function declarationTexts(schema: Schema): ReadonlyMap<string, string> {
	const texts = grantConditionTexts(schema);
	return new Map(
		declaringRoles(schema).map(([role, sets]) => [
			roleName(role),
			JSON.stringify(sets.map((set) => [set, texts.get(set) ?? null])),
		]),
	);
}

/**
 * Returns the keys of suspended conditions in the active policy: the newer schema changed or removed the condition, or
 * a role no longer declares it. Assignments under these conditions do not count until the new policy is active.
 */
export function suspendedConditions(inForce: Schema, schema: Schema): readonly string[] {
	const [before, after] = [grantConditionTexts(inForce), grantConditionTexts(schema)];
	const declared = new Map(declaringRoles(schema).map(([role, sets]) => [roleName(role), sets]));
	const withdrawn = new Set(
		declaringRoles(inForce).flatMap(([role, sets]) =>
			sets.filter((set) => !declared.get(roleName(role))?.includes(set)),
		),
	);
	return canonical(
		[...before].filter(([key, text]) => after.get(key) !== text || withdrawn.has(key)).map(([key]) => key),
	);
}

/** Returns the context names read by a condition, in order. */
export function contextNames(condition: Condition): readonly string[] {
	return canonical(new Set(contextNamesIn(condition)));
}

function contextNamesIn(condition: Condition): readonly string[] {
	if (condition.kind === 'not') return contextNamesIn(condition.condition);
	if (condition.kind !== 'comparison') return condition.conditions.flatMap(contextNamesIn);
	const { attribute, operand } = condition;
	return [attribute, ...('ref' in operand ? [operand.ref] : [])].flatMap(({ object, path }) =>
		object === 'context' ? path.slice(0, 1) : [],
	);
}
