/** Compares values, for previews and explanations. */
import type { Json } from '../model.js';
import { acceptedKinds, orderedKind } from './accepted-kinds.js';
import type { Operator, PatternMatcher } from './operator.js';
import { arrayItems, jsonKind } from './value.js';

/** A truth value, or `'mistyped'` if the values cannot be compared. */
export type Truth = boolean | 'mistyped';

/** The surroundings of a comparison: the time in milliseconds since 1970, and the regular expression engine. */
export interface Surroundings {
	readonly now: number;
	readonly matches: PatternMatcher;
}

/**
 * Compares two values, where `undefined` means a missing value. The result is `'mistyped'` if the operator does not
 * accept the kind of a present value, even if the other value is missing.
 */
export function evaluateComparison(
	operator: Operator,
	attribute: Json | undefined,
	operand: Json | undefined,
	{ now, matches }: Surroundings,
): Truth {
	return compareWith(operator, operand, matches)(attribute, now);
}

/** Like `evaluateComparison`, for one operand and many attribute values and times. */
export function compareWith(
	operator: Operator,
	operand: Json | undefined,
	matches: PatternMatcher,
): (attribute: Json | undefined, now: number) => Truth {
	if (operand === undefined) return (attribute) => (isRefused(operator, attribute) ? 'mistyped' : false);
	if (!acceptedKinds[operator.operand].accepts(operand)) return () => 'mistyped';
	const kind = operator.ordered === true ? orderedKind(operand) : undefined;
	const holds = operator.holdsFor(operand, matches);
	const missing = operator.missing?.(operand) ?? false;
	const { accepts } = acceptedKinds[operator.attribute];
	return (attribute, now) => {
		if (attribute === undefined) return missing;
		if (!accepts(attribute) || (kind !== undefined && jsonKind(attribute) !== kind)) return 'mistyped';
		return holds(attribute, now);
	};
}

function isRefused(operator: Operator, attribute: Json | undefined): boolean {
	return attribute !== undefined && !acceptedKinds[operator.attribute].accepts(attribute);
}

/** Finds an instance's stored attributes by its key, in the check's tenant. */
export type FindRelated = (key: string) => Json;

/**
 * Evaluates a `match`: `evaluate` is called with the matched object, or with each item of a matched array. It is not
 * called if the value or an item is mistyped. With `findRelated`, the value or the items are keys of instances.
 */
export function evaluateMatch(
	operator: Operator,
	value: Json | undefined,
	evaluate: (thing: Json) => Truth,
	findRelated?: FindRelated,
): Truth {
	if (value === undefined) return false;
	const isObject = operator.match === 'object';
	const things = isObject ? [value] : arrayItems(value);
	const { accepts } = acceptedKinds[findRelated === undefined ? 'object' : 'string'];
	if ((!isObject && isRefused(operator, value)) || !things.every(accepts)) return 'mistyped';
	const truths = things.map((thing) => evaluate(findRelated === undefined ? thing : findRelated(String(thing))));
	return joinTruths(operator.match === 'any' ? 'any' : 'all', truths);
}

/** Combines truth values with `all` or `any`. The result is mistyped if any part is mistyped. */
export function joinTruths(kind: 'all' | 'any', parts: readonly Truth[]): Truth {
	if (parts.includes('mistyped')) return 'mistyped';
	return kind === 'all' ? !parts.includes(false) : parts.includes(true);
}
