/** Conditions that do not depend on attributes, such as an `all` of nothing: Rego has nothing to compute for them. */
import type { Condition } from './condition.js';

/** The condition's value where it is the same for all attributes; `undefined` where it depends on them. */
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

/** The value of several conditions, of which one that is `decisive` decides for all. */
function combinedValue<A>(conditions: readonly Condition<A>[], decisive: boolean): boolean | undefined {
	const values = conditions.map(constantValue);
	if (values.includes(decisive)) {
		return decisive;
	}
	return values.includes(undefined) ? undefined : !decisive;
}

/** The conditions that depend on attributes. */
export function variableAmong<A>(conditions: readonly Condition<A>[]): readonly Condition<A>[] {
	return conditions.filter((condition) => constantValue(condition) === undefined);
}
