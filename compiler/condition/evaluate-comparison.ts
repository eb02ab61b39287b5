/** Compares values, for previews and explanations. */
import type { Json } from '../model.js';
import { acceptedKinds, orderedKind } from './accepted-kinds.js';
import type { Operator, PatternMatcher } from './operator.js';
import { jsonKind } from './value.js';

/** A truth value, or `'mistyped'` if the values cannot be compared. */
export type Truth = boolean | 'mistyped';

/**
 * Compares two values, where `undefined` means a missing value. The operator must accept the kind of each present
 * value, even if the other value is missing.
 */
export function evaluateComparison(
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
		(attribute !== undefined && !acceptedKinds[operator.attribute].accepts(attribute)) ||
		(operand !== undefined && !acceptedKinds[operator.operand].accepts(operand)) ||
		(operator.ordered === true &&
			attribute !== undefined &&
			operand !== undefined &&
			jsonKind(attribute) !== orderedKind(operand))
	);
}
