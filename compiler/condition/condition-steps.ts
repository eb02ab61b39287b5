import type { Json, ParameterType } from '../model.js';
import type { AttributePath, Comparison, Condition } from './condition.js';
import { operatorNamed } from './operator.js';

type Parameters = Readonly<Record<string, ParameterType>>;

/** Steps of a comparison of two short values, which takes about a microsecond. */
const stepsOfShort = 4;

/**
 * Steps of a comparison whose time depends on the compared lists, objects or texts. With the largest accepted values,
 * it takes about a millisecond.
 */
const stepsOfLong = 1_500;

/** Steps of operators that take two to three milliseconds. */
const stepsByOperator: Readonly<Record<string, number>> = { array_subset: 3_000, contains: 4_000 };

/** Steps for a character of a regular expression. The longest expression takes three milliseconds. */
const stepsOfCharacter = 4;

/**
 * Returns the maximum number of steps in an evaluation. A value in a list counts as a step. A condition on the items of
 * a list is evaluated for each item, so each of its comparisons counts as long.
 */
export function conditionSteps<A>(condition: Condition<A>, parameters: Parameters): number {
	if (condition.kind === 'not') return conditionSteps(condition.condition, parameters);
	if (condition.kind === 'comparison') return comparisonSteps(condition, parameters);
	return condition.conditions.reduce((sum, one) => sum + conditionSteps(one, parameters), 0);
}

function comparisonSteps<A>(comparison: Comparison<A>, parameters: Parameters): number {
	const { operator, operand } = comparison;
	if ('match' in operand) return stepsOfLong * Math.max(1, countComparisons(operand.match));
	const { name = operator, attribute } = operatorNamed(operator) ?? {};
	const written = 'value' in operand ? countValues(operand.value) : 0;
	if (name === 'matches') return stepsOfLong + stepsOfCharacter * String('value' in operand && operand.value).length;
	const isLong =
		attribute === 'list' || name === 'contains' || ('ref' in operand && isLongReference(operand.ref, parameters));
	return written + (isLong ? (stepsByOperator[name] ?? stepsOfLong) : stepsOfShort);
}

/** True if the value of a reference may be a list or an object. */
function isLongReference({ object, path }: AttributePath, parameters: Parameters): boolean {
	const type = object === 'grant' ? parameters[path[0] ?? ''] : undefined;
	return object !== 'now' && (type === undefined || type === 'array');
}

function countComparisons<A>(condition: Condition<A>): number {
	if (condition.kind === 'not') return countComparisons(condition.condition);
	if (condition.kind === 'comparison') {
		return 1 + ('match' in condition.operand ? countComparisons(condition.operand.match) : 0);
	}
	return condition.conditions.reduce((sum, one) => sum + countComparisons(one), 0);
}

function countValues(value: Json): number {
	if (typeof value !== 'object' || value === null) return 0;
	return Object.values(value).reduce<number>((sum, one) => sum + 1 + countValues(one), 0);
}
