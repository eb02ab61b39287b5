/** Writes conditions as Rego statements. */
import { type Fragment, lines, rego } from '../../rego/rego.js';
import type { Body } from '../../rego/rule.js';
import type { Comparison, Condition, MatchOperand } from '../condition.js';
import { constantValue, variableAmong } from '../constant-value.js';
import { type Operator, operatorNamed } from '../operator.js';
import { itemsRego, optional, type RegoScope, relatedRego, scopeOfMembers } from './rego-scope.js';
import { writeComparison } from './write-comparison.js';

/** Returns the statements for a condition, which holds if and only if all statements are true. */
export function writeStatements<A>(condition: Condition<A>, scope: RegoScope<A>): Body {
	const constant = constantValue(condition);
	if (constant !== undefined) {
		return constant ? [] : [rego`false`];
	}
	switch (condition.kind) {
		case 'all':
			return condition.conditions.flatMap((one) => writeStatements(one, scope));
		case 'any':
			return writeAny(condition.conditions, optional(scope));
		case 'not':
			return writeNot(condition.condition, optional(scope));
		case 'comparison':
			return writeOneComparison(condition, scope);
	}
}

/** Writes `any_1(user)`: a function with a body for each alternative. A single alternative needs no function. */
function writeAny<A>(conditions: readonly Condition<A>[], scope: RegoScope<A>): Body {
	const alternatives = variableAmong(conditions);
	const [only] = alternatives;
	if (only !== undefined && alternatives.length === 1) {
		return writeStatements(only, scope);
	}
	return [scope.helpers.add('any', () => alternatives.flatMap((one) => writeBodies(one, scope)))];
}

/**
 * Writes `not excluded_1(user)`. It uses a function because Rego can negate only a single statement, and the condition
 * may need several.
 */
function writeNot<A>(denied: Condition<A>, scope: RegoScope<A>): Body {
	if (denied.kind === 'not') {
		return writeStatements(denied.condition, scope);
	}
	if (
		denied.kind === 'comparison' &&
		(scope.rule(denied) !== undefined || operatorNamed(denied.operator)?.match === 'any')
	) {
		// The comparison is already a single rule or call, so it needs no function.
		return writeOneComparison(denied, scope).map((call) => rego`not ${call}`);
	}
	return [rego`not ${scope.helpers.add('excluded', () => writeBodies(denied, scope))}`];
}

/**
 * Returns a body for each alternative, including nested alternatives. At least one body is true if and only if the
 * condition holds.
 */
function writeBodies<A>(condition: Condition<A>, scope: RegoScope<A>): readonly Body[] {
	return condition.kind === 'any'
		? variableAmong(condition.conditions).flatMap((one) => writeBodies(one, scope))
		: [writeStatements(condition, scope)];
}

function writeOneComparison<A>(comparison: Comparison<A>, scope: RegoScope<A>): Body {
	const rule = scope.rule(comparison);
	if (rule !== undefined) return [rule];
	const operator = operatorNamed(comparison.operator);
	if (operator === undefined) {
		return [rego`false`];
	}
	const attribute = scope.attribute(comparison.attribute);
	const { operand } = comparison;
	return 'match' in operand
		? writeMatch(operator, attribute, operand, scope)
		: writeComparison(operator, attribute, operand, scope);
}

/** Writes a condition on an object's fields, on an array's items, or on the instances with these keys. */
function writeMatch<A>(
	operator: Operator,
	attribute: Fragment,
	{ match: condition, related }: MatchOperand,
	scope: RegoScope<A>,
): Body {
	if (operator.match === 'object' && related !== undefined) {
		const { match } = scope.items.named(condition);
		return [rego`is_string(${attribute})`, rego`${match}(${relatedRego(related, attribute)})`];
	}
	if (operator.match === 'object') {
		return [rego`is_object(${attribute})`, ...writeStatements(condition, scopeOfMembers(attribute, scope))];
	}
	const { match } = scope.items.named(condition);
	const one = relatedRego(related, rego`one`);
	const isArray = rego`is_array(${attribute})`;
	const items = itemsRego(related, attribute);
	if (operator.match === 'all') {
		return [isArray, lines([rego`every one in ${items} {`, rego`		${match}(${one})`, rego`	}`])];
	}
	const anyMatch = scope.helpers.add('any_match', () => [[rego`some one in ${items}`, rego`${match}(${one})`]]);
	return scope.required ? [isArray, anyMatch] : [anyMatch];
}
