/**
 * Conditions as JsonLogic (jsonlogic.com), for previews of the users or instances that a set selects. A rule's data is
 * `{user, resource, tenant, context, now}`. Built-in attributes, such as `user.roles`, are fields.
 */
import { isArray } from '../json.js';
import type { Json } from '../model.js';
import type { AttributePath, Comparison, Condition, MatchOperand } from './condition.js';
import { evaluateComparison, type Truth } from './evaluate-comparison.js';
import { type Operator, operatorNamed } from './operator.js';
import { jsonKind, lookUp } from './value.js';

/** Converts a condition to a boolean rule, which is false if any part is mistyped. */
export function toJsonLogic(condition: Condition): Json {
	const mistyped = mistypedIn(condition, attributeLogic);
	const holds = conditionLogic(condition, attributeLogic);
	return mistyped.length === 0 ? holds : { and: [holds, { '!': [{ or: mistyped }] }] };
}

/**
 * Operations for `add_operation`, beyond the standard `and`, `or`, `!`, `some` and `none`. The caller adds three more:
 *
 * - `pattern_matches(pattern, text)`: true if a regular expression (RE2) matches anywhere in a string
 * - `now()`: the time in milliseconds since 1970, because conditions on array items cannot see the rule's data
 * - `related(type, keys)`: an array with the stored attributes of the instances with these keys (an array or a single
 *   key); empty for any other value
 */
export const operations: Readonly<Record<string, (...given: readonly unknown[]) => unknown>> = {
	/**
	 * Returns the attribute at the path; `undefined` if it is missing. Reads only own fields, unlike JsonLogic's `var`.
	 */
	attribute(this: unknown, ...path: readonly unknown[]): unknown {
		return lookUp(asJson(this) ?? null, path.map(String));
	},
	/** Compares an attribute with an operand. Only operators with a duration use the time. */
	compare: (attribute, operator, operand, now) => evaluateNamed(attribute, operator, operand, now) === true,
	/** True if the values cannot be compared. */
	mistyped: (attribute, operator, operand) => evaluateNamed(attribute, operator, operand) === 'mistyped',
	/** True for a present value of this kind. */
	is: (value, kind) => value !== undefined && value !== null && jsonKind(asJson(value) ?? null) === kind,
	/** Builds an object from alternating names and values. JsonLogic would read a literal object as a rule. */
	object: (...given) =>
		Object.fromEntries(given.flatMap((name, index) => (index % 2 === 0 ? [[String(name), given[index + 1]]] : []))),
};

/** Writes an attribute reference as a rule. */
type Lookup<Attribute> = (attribute: Attribute) => Json;

function attributeLogic({ object, path }: AttributePath): Json {
	return { attribute: [object, ...path] };
}

function memberLogic(path: readonly string[]): Json {
	return { attribute: path };
}

function conditionLogic<A>(condition: Condition<A>, lookup: Lookup<A>): Json {
	if (condition.kind === 'comparison') {
		return comparisonLogic(condition, lookup);
	}
	if (condition.kind === 'not') {
		return { '!': [conditionLogic(condition.condition, lookup)] };
	}
	const parts = condition.conditions.map((one) => conditionLogic(one, lookup));
	if (parts.length === 0) {
		return condition.kind === 'all';
	}
	return condition.kind === 'all' ? { and: parts } : { or: parts };
}

function comparisonLogic<A>({ attribute, operator: name, operand }: Comparison<A>, lookup: Lookup<A>): Json {
	const operator = operatorNamed(name);
	const found = lookup(attribute);
	if (operator === undefined) {
		return false;
	}
	if ('match' in operand) {
		return matchLogic(operator, found, operand, lookup, attribute);
	}
	if (operator.name === 'matches' && 'value' in operand) {
		return { and: [{ is: [found, 'string'] }, { pattern_matches: [operand.value, found] }] };
	}
	const other = 'ref' in operand ? attributeLogic(operand.ref) : quoted(operand.value);
	const time = operator.operand === 'duration' ? [{ now: [] }] : [];
	return { compare: [found, operator.name, other, ...time] };
}

function matchLogic<A>(
	operator: Operator,
	found: Json,
	{ match, related }: MatchOperand,
	lookup: Lookup<A>,
	attribute: A,
): Json {
	const things = related === undefined ? found : { related: [related, found] };
	if (operator.match === 'object' && related !== undefined) {
		return { and: [{ is: [found, 'string'] }, { some: [things, conditionLogic(match, memberLogic)] }] };
	}
	if (operator.match === 'object') {
		return { and: [{ is: [found, 'object'] }, conditionLogic(match, within(lookup, attribute))] };
	}
	const holds = conditionLogic(match, memberLogic);
	return operator.match === 'any'
		? { some: [things, holds] }
		: { and: [{ is: [found, 'array'] }, { none: [things, { '!': [holds] }] }] };
}

/** Returns a rule for each comparison. The rule is true if the comparison is mistyped. */
function mistypedIn<A>(condition: Condition<A>, lookup: Lookup<A>): readonly Json[] {
	if (condition.kind === 'not') {
		return mistypedIn(condition.condition, lookup);
	}
	return condition.kind === 'comparison'
		? mistypedComparison(condition, lookup)
		: condition.conditions.flatMap((one) => mistypedIn(one, lookup));
}

function mistypedComparison<A>(
	{ attribute, operator: name, operand }: Comparison<A>,
	lookup: Lookup<A>,
): readonly Json[] {
	const operator = operatorNamed(name);
	const found = lookup(attribute);
	if (operator === undefined) {
		return [];
	}
	if ('match' in operand) {
		return mistypedMatch(operator, found, operand, lookup, attribute);
	}
	if (operator.attribute === 'anything') {
		return [];
	}
	const other = 'ref' in operand ? attributeLogic(operand.ref) : quoted(operand.value);
	return [{ mistyped: [found, operator.name, other] }];
}

function mistypedMatch<A>(
	operator: Operator,
	found: Json,
	{ match, related }: MatchOperand,
	lookup: Lookup<A>,
	attribute: A,
): readonly Json[] {
	const itself = { mistyped: [found, operator.name] };
	if (related !== undefined) {
		const isObject = operator.match === 'object';
		const isOther = { '!': [{ is: [isObject ? found : { attribute: [] }, 'string'] }] };
		const wrong = isObject
			? [{ and: [{ compare: [found, 'is-null', false] }, isOther] }]
			: [itself, { some: [found, isOther] }];
		return [...wrong, { some: [{ related: [related, found] }, { or: [false, ...mistypedIn(match, memberLogic)] }] }];
	}
	if (operator.match === 'object') {
		return [itself, ...mistypedIn(match, within(lookup, attribute))];
	}
	const stranger = { '!': [{ is: [{ attribute: [] }, 'object'] }] };
	return [itself, { some: [found, { or: [stranger, ...mistypedIn(match, memberLogic)] }] }];
}

/** Looks up an attribute's fields. */
function within<A>(lookup: Lookup<A>, attribute: A): Lookup<readonly string[]> {
	const found = lookup(attribute) as { readonly attribute: readonly string[] };
	return (path) => ({ attribute: [...found.attribute, ...path] });
}

/** Writes a literal value so that JsonLogic reads no part of it as a rule. */
function quoted(value: Json): Json {
	if (isArray(value)) {
		return value.map(quoted);
	}
	return typeof value === 'object' && value !== null
		? { object: Object.entries(value).flatMap(([name, member]) => [name, quoted(member)]) }
		: value;
}

function evaluateNamed(attribute: unknown, name: unknown, operand: unknown, now: unknown = 0): Truth {
	const operator = operatorNamed(String(name));
	const surroundings = { now: Number(now), matches: () => false };
	return operator === undefined
		? 'mistyped'
		: evaluateComparison(operator, asJson(attribute) ?? undefined, asJson(operand) ?? undefined, surroundings);
}

/** Operations receive JSON only, because rules and their data are JSON. */
function asJson(value: unknown): Json | undefined {
	return value as Json | undefined;
}
