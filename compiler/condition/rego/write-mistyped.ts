/** Writes Rego to detect mistyped comparisons in a condition. A set with mistyped conditions selects nothing. */
import { type Fragment, lines, rego } from '../../rego/rego.js';
import type { Body } from '../../rego/rule.js';
import type { Comparison, Condition, MatchOperand } from '../condition.js';
import { constantValue } from '../constant-value.js';
import { type Operator, operatorNamed } from '../operator.js';
import { itemsRego, optional, type RegoScope, relatedRego, scopeOfMembers } from './rego-scope.js';
import { refusing, writeMistypedComparison } from './write-comparison.js';

/**
 * Returns alternative bodies. At least one body is true if and only if a comparison in the condition is mistyped.
 * Required comparisons need no body, because their own statements check the values.
 */
export function writeMistyped<A>(condition: Condition<A>, scope: RegoScope<A>): readonly Body[] {
	switch (condition.kind) {
		case 'all':
			// Constant conditions emit no Rego, so their comparisons need no checks.
			return constantValue(condition) === undefined
				? eachMistyped(condition.conditions, scope)
				: eachMistyped(condition.conditions, optional(scope));
		case 'any':
			return eachMistyped(condition.conditions, optional(scope));
		case 'not':
			return writeMistyped(condition.condition, optional(scope));
		case 'comparison':
			return writeOneMistyped(condition, scope);
	}
}

function eachMistyped<A>(conditions: readonly Condition<A>[], scope: RegoScope<A>): readonly Body[] {
	return withoutRepetition(conditions.flatMap((one) => writeMistyped(one, scope)));
}

function withoutRepetition(bodies: readonly Body[]): readonly Body[] {
	return [...new Map(bodies.map((body) => [lines(body).text, body])).values()];
}

function writeOneMistyped<A>(comparison: Comparison<A>, scope: RegoScope<A>): readonly Body[] {
	const operator = operatorNamed(comparison.operator);
	if (operator === undefined || scope.rule(comparison) !== undefined) {
		return [];
	}
	const attribute = scope.attribute(comparison.attribute);
	const { operand } = comparison;
	if ('match' in operand) {
		return writeMistypedMatch(operator, attribute, operand, scope);
	}
	return scope.required ? [] : writeMistypedComparison(operator, attribute, operand);
}

/** Returns the bodies for a `match`: the attribute itself, a field, an item or a related attribute may be mistyped. */
function writeMistypedMatch<A>(
	operator: Operator,
	attribute: Fragment,
	{ match: condition, related }: MatchOperand,
	scope: RegoScope<A>,
): readonly Body[] {
	if (related !== undefined) return writeMistypedRelated(operator, attribute, { match: condition, related }, scope);
	const itself = scope.required ? [] : refusing(operator.attribute, attribute);
	if (operator.match === 'object') {
		return [...itself, ...writeMistyped(condition, scopeOfMembers(attribute, scope))];
	}
	const { mistyped } = scope.items.named(condition);
	return [...itself, [rego`some one in ${attribute}`, rego`${mistyped}(one)`]];
}

function writeMistypedRelated<A>(
	operator: Operator,
	attribute: Fragment,
	{ match, related }: Required<MatchOperand>,
	scope: RegoScope<A>,
): readonly Body[] {
	const isObject = operator.match === 'object';
	const itself = scope.required ? [] : refusing(isObject ? 'string' : operator.attribute, attribute);
	const { mistyped } = scope.items.named(match);
	const each = isObject ? [] : [rego`some one in ${itemsRego(related, attribute)}`];
	const key = isObject ? attribute : rego`one`;
	return [
		...itself,
		...(isObject ? [] : [[...each, rego`not is_string(one)`]]),
		[...each, rego`${mistyped}(${relatedRego(related, key)})`],
	];
}
