/** Conditions without attributes, such as an empty `all`. Their value is constant, so no Rego is needed. */
import type { Condition } from './condition.js';

/** Returns a constant condition's value; `undefined` if the value depends on attributes. */
export function constantValue<A>(condition: Condition<A>): boolean | undefined {
	switch (condition.kind) {
		case 'comparison':
			return undefined;
		case 'not': {
			const inside = constantValue(condition.condition);
			return inside === undefined ? undefined : !inside;
		}
		case 'all':
			return combinedValue(condition.conditions, false);
		case 'any':
			return combinedValue(condition.conditions, true);
	}
}

/** Combines the values of several conditions. A single condition with the value `decisive` decides the result. */
function combinedValue<A>(conditions: readonly Condition<A>[], decisive: boolean): boolean | undefined {
	const values = conditions.map(constantValue);
	if (values.includes(decisive)) {
		return decisive;
	}
	return values.includes(undefined) ? undefined : !decisive;
}

/** Returns the conditions whose value depends on attributes. */
export function variableAmong<A>(conditions: readonly Condition<A>[]): readonly Condition<A>[] {
	return conditions.filter((condition) => constantValue(condition) === undefined);
}
