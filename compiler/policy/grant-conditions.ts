/** Grant conditions: their declarations, and their suspension. */
import type { Condition } from '../condition/condition.js';
import { parseConditions } from '../condition/parse/grammar.js';
import { declaringRelations, declaringRoles, derivationEdges, roleName } from '../cycle.js';
import { groupBy } from '../group-by.js';
import { canonicalText } from '../json-writer.js';
import type { GrantCondition, Schema } from '../model.js';
import { canonical } from '../order.js';

/** Parses a grant condition. Returns `undefined` if it is invalid; an invalid condition never holds. */
export function parseGrantCondition({ conditions, parameters }: Pick<GrantCondition, 'conditions' | 'parameters'>) {
	const parsed = parseConditions(conditions, { type: 'grant', bound: false, parameters: Object.keys(parameters) });
	return 'condition' in parsed ? parsed.condition : undefined;
}

/** Returns a string for each condition. Conditions with equal strings hold in the same cases. */
export function grantConditionTexts({ grant_conditions = [] }: Schema): ReadonlyMap<string, string> {
	return new Map(
		grant_conditions.map(({ key, conditions, parameters }) => [key, canonicalText([conditions, { ...parameters }])]),
	);
}

/**
 * Returns a string for each role that declares conditions or is derived by a declaring relation, keyed by role name.
 * The string identifies all these conditions.
 */
export function declarationTexts(schema: Schema): ReadonlyMap<string, string> {
	const texts = grantConditionTexts(schema);
	const withTexts = (sets: readonly string[]) => sets.map((set) => [set, texts.get(set) ?? null]);
	const declared = [
		...declaringRoles(schema).map(([role, sets]) => [roleName(role), withTexts(sets)] as const),
		...derivationEdges(schema).flatMap(({ target, relation, grant_conditions: sets }) =>
			sets === undefined ? [] : [[roleName(target), [relation, withTexts(sets)]] as const],
		),
	];
	return new Map([...groupBy(declared, ([name]) => name)].map(([name, rows]) => [name, JSON.stringify(rows)]));
}

/**
 * Returns the keys of suspended conditions in the active policy: the newer schema changed or removed the condition, or
 * a role or relation no longer declares it. Assignments and relationships under these conditions do not count until the
 * new policy is active.
 */
export function suspendedConditions(inForce: Schema, schema: Schema): readonly string[] {
	const [before, after] = [grantConditionTexts(inForce), grantConditionTexts(schema)];
	const declared = new Map(declarations(schema));
	const withdrawn = new Set(
		declarations(inForce).flatMap(([name, sets]) => sets.filter((set) => !declared.get(name)?.includes(set))),
	);
	return canonical(
		[...before].filter(([key, text]) => after.get(key) !== text || withdrawn.has(key)).map(([key]) => key),
	);
}

/** Returns each role and relation that declares conditions, by a unique name. */
function declarations(schema: Schema): readonly (readonly [name: string, sets: readonly string[]])[] {
	return [
		...declaringRoles(schema).map(([role, sets]) => [`role ${roleName(role)}`, sets] as const),
		...declaringRelations(schema).map(
			([type, relation, sets]) => [`relation ${JSON.stringify([type, relation])}`, sets] as const,
		),
	];
}

/** Returns the names of the roles that users may hold under these conditions, by assignment or one derivation. */
export function rolesDeclaring(schema: Schema, sets: ReadonlySet<string>): readonly string[] {
	const declares = (declared: readonly string[]) => declared.some((set) => sets.has(set));
	return [
		...declaringRoles(schema).flatMap(([role, declared]) => (declares(declared) ? [roleName(role)] : [])),
		...derivationEdges(schema).flatMap(({ target, grant_conditions = [] }) =>
			declares(grant_conditions) ? [roleName(target)] : [],
		),
	];
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
