/** One comparison on values: what previews and explanations share. */
import type { Json } from '../model.js';
import { kindToOrder, taken } from './kinds.js';
import type { Operator, PatternMatcher } from './operator.js';
import { kindOf } from './value.js';

/** Whether something holds, or that it compares what cannot be compared. */
export type Truth = boolean | 'mistyped';

/**
 * Compares two values, `undefined` where they are missing. What is there must be of a kind that the operator takes,
 * whether the other side is there or not.
 */
export function truthOf(
	operator: Operator,
	attribute: Json | undefined,
	operand: Json | undefined,
	matches: PatternMatcher,
): Truth {
	if (refused(operator, attribute, operand)) {
		return 'mistyped';
	}
	if (attribute === undefined) {
		return operand !== undefined && (operator.missing?.(operand) ?? false);
	}
	return operand !== undefined && operator.holds(attribute, operand, matches);
}

function refused(operator: Operator, attribute: Json | undefined, operand: Json | undefined): boolean {
	return (
		(attribute !== undefined && !taken[operator.attribute].takes(attribute)) ||
		(operand !== undefined && !taken[operator.operand].takes(operand)) ||
		(operator.ordered === true &&
			attribute !== undefined &&
			operand !== undefined &&
			kindOf(attribute) !== kindToOrder(operand))
	);
}
