import type { Json, ParameterType } from '../model.js';
import { isAsked } from './attribute.js';
import type { AttributePath, Comparison, Condition, Operand } from './condition.js';
import { operatorNamed } from './operator.js';

/** Information about the values in a condition. */
interface StepOptions {
	readonly parameters: Readonly<Record<string, ParameterType>>;
	/** Estimates the number of characters and classes in a regular expression, including repetitions. */
	readonly patternSize: (pattern: string) => number;
}

interface Place extends StepOptions {
	/** True below `not`, `anyOf` and `match`: an additional function then searches attributes for inexact numbers. */
	readonly isOptional: boolean;
	/** True below `match`, where a comparison is repeated for each item. */
	readonly isRepeated: boolean;
	/** Shared searches for inexact numbers. Each counts once for the whole condition. */
	readonly searches: Set<string>;
}

/** Steps to compare two short values, which takes about a microsecond. */
const stepsOfShort = 4;

/** Steps to compare two long texts. */
const stepsOfText = 1_500;

/** Steps to search the largest accepted value for inexact numbers, or to compare it with short values. */
const stepsOfLong = 6_500;

/**
 * Steps of each operator with the largest accepted values: `own` with an operand from the condition or the assignment,
 * `attribute` with an attribute as operand. The engine takes quadratic time for the fields of an object in a compared
 * list.
 */
const stepsOfLargest: Readonly<Record<string, readonly [own: number, attribute: number]>> = {
	equals: [stepsOfLong, 43_000],
	'not-equals': [stepsOfLong, 43_000],
	in: [stepsOfLong, 43_000],
	'not-in': [stepsOfLong, 43_000],
	array_contains: [stepsOfLong, 43_000],
	array_subset: [66_000, 130_000],
	array_superset: [44_000, 130_000],
	array_intersect: [44_000, 130_000],
	contains: [11_500, 11_500],
	'in-cidr': [5_000, 13_500],
	'within-last': [stepsOfText, stepsOfText],
	'older-than': [stepsOfText, stepsOfText],
};

/** Operators that compare any attribute with a short value in a short time. */
const fastOperators: readonly string[] = ['equals', 'in'];

/** Operators that share a search for inexact numbers if their comparisons are optional. */
const searchingOperators: readonly string[] = ['equals', 'not-equals', 'in', 'not-in'];

/** Steps to apply `contains` to all list items. Together, their texts may be longer than a single searched text. */
const stepsOfContainsInItems = 36_000;

/** Steps for each character or class in a regular expression: for a single text, and for all list items. */
const stepsOfPattern = { text: 100, items: 9_500 } as const;

/** Factor for a regular expression with Unicode classes. */
const unicodeFactor = 50;

/** Steps for each value in a list operand, if a comparison is repeated for all items. */
const stepsOfValueInItems = 1_500;

/** Number of characters in an operand that count as a step. */
const charactersOfStep = 500;

/**
 * Returns the maximum number of steps in an evaluation, with the largest accepted attributes. The steps are upper
 * bounds from measurements: 1,500 steps take at most a millisecond. A value in the condition counts as a step.
 */
export function conditionSteps(condition: Condition, options: StepOptions): number {
	const searches = new Set<string>();
	const steps = stepsAt(condition, { ...options, isOptional: false, isRepeated: false, searches });
	return steps + searches.size * stepsOfLong;
}

/** Returns the maximum number of steps in the comparisons that an evaluation repeats for each list item. */
export function itemSteps<A extends AttributePath | readonly string[]>(
	condition: Condition<A>,
	options: StepOptions,
): number {
	if (condition.kind === 'not') return itemSteps(condition.condition, options);
	if (condition.kind !== 'comparison') {
		return condition.conditions.reduce((sum, one) => sum + itemSteps(one, options), 0);
	}
	const { operand, operator } = condition;
	if (!('match' in operand)) return 0;
	if (operatorNamed(operator)?.match === 'object') return itemSteps(operand.match, options);
	return comparisonSteps(condition, { ...options, isOptional: false, isRepeated: false, searches: new Set() });
}

function stepsAt<A extends AttributePath | readonly string[]>(condition: Condition<A>, place: Place): number {
	const optional = { ...place, isOptional: true };
	if (condition.kind === 'not') return stepsAt(condition.condition, optional);
	if (condition.kind === 'comparison') return comparisonSteps(condition, place);
	const inside = condition.kind === 'any' ? optional : place;
	return condition.conditions.reduce((sum, one) => sum + stepsAt(one, inside), 0);
}

function comparisonSteps<A extends AttributePath | readonly string[]>(
	{ attribute, operator, operand }: Comparison<A>,
	place: Place,
): number {
	if ('match' in operand) {
		return Math.max(stepsOfText, stepsAt(operand.match, { ...place, isOptional: true, isRepeated: true }));
	}
	const { isRepeated } = place;
	const { name = operator } = operatorNamed(operator) ?? {};
	const values = 'value' in operand ? countValues(operand.value) : 0;
	if (name === 'matches') {
		const pattern = 'value' in operand ? String(operand.value) : '';
		const size = place.patternSize(pattern) * (/\\[pP]/u.test(pattern) ? unicodeFactor : 1);
		return stepsOfText + size * stepsOfPattern[isRepeated ? 'items' : 'text'];
	}
	if (name === 'contains' && isRepeated) return stepsOfContainsInItems;
	const steps = valueSteps(name, attribute, operand, place);
	return isRepeated ? Math.max(stepsOfText, steps) + values * stepsOfValueInItems : steps + values;
}

/** Returns a comparison's steps, without the steps for values in the condition and for shared searches. */
function valueSteps(
	operator: string,
	compared: AttributePath | readonly string[],
	operand: Operand,
	place: Place,
): number {
	const size = operandSize(operand, place);
	const [own, attribute] = stepsOfLargest[operator] ?? [stepsOfShort, stepsOfText];
	const isKeyCompared = 'object' in compared && isKey(compared);
	if (size === 'attribute') return isKeyCompared ? Math.min(own, attribute) : attribute;
	if (size === 'nested') return own;
	if (isKeyCompared) return stepsOfShort;
	if (place.isOptional && !place.isRepeated && 'object' in compared && searchingOperators.includes(operator)) {
		// Attributes with different paths of equal length do not overlap, and the total size of an object's attributes is
		// limited. One search therefore covers all these attributes.
		place.searches.add(`${compared.object} ${compared.path.length} ${isAsked(compared)}`);
		return stepsOfShort;
	}
	return fastOperators.includes(operator) && !place.isOptional ? stepsOfShort : own;
}

/** Returns an operand's size class: an attribute, a list or an object, or short values. */
function operandSize(operand: Operand, { parameters }: StepOptions): 'attribute' | 'nested' | 'short' {
	if ('value' in operand) return hasObject(operand.value) ? 'nested' : 'short';
	if (!('ref' in operand)) return 'attribute';
	const { ref } = operand;
	if (isKey(ref)) return 'short';
	const type = ref.object === 'grant' ? parameters[ref.path[0] ?? ''] : undefined;
	if (type === undefined) return 'attribute';
	return type === 'array' ? 'nested' : 'short';
}

/** True for `now` and for keys, whose values are short. */
function isKey(attribute: AttributePath): boolean {
	return attribute.object === 'now' || (attribute.path[0] === 'key' && isAsked(attribute));
}

/** True if a value is an object, or a list that contains lists or objects. */
function hasObject(value: Json): boolean {
	if (!Array.isArray(value)) return typeof value === 'object' && value !== null;
	return value.some((item) => typeof item === 'object' && item !== null);
}

/** Counts the values inside a value, and the characters of its texts. */
function countValues(value: Json): number {
	if (typeof value === 'string') return Math.floor(value.length / charactersOfStep);
	if (typeof value !== 'object' || value === null) return 0;
	return Object.values(value).reduce<number>((sum, one) => sum + 1 + countValues(one), 0);
}
