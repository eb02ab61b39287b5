/** A placeholder until the grammar comes. */
import type { Json } from '../model.js';
import type { AttributePath, Condition, Place } from './condition.js';

export interface ConditionProblem {
	readonly at: Place;
	readonly msg: string;
	readonly type: string;
	readonly input?: unknown;
}
export type Parsed = { readonly condition: Condition } | { readonly problems: readonly ConditionProblem[] };

export function parseConditions(
	conditions: unknown,
	_: { readonly type: 'userset' | 'resourceset'; readonly patternProblem?: (pattern: string) => string | null },
): Parsed {
	const all: Condition[] = [];
	for (const [name, value] of Object.entries(conditions as Record<string, Json>)) {
		const [object = 'user', ...path] = name.split('.');
		if (name === 'all_of') return { problems: [{ at: [name], msg: 'unknown', type: 'unknown' }] };
		for (const [operator, operand] of Object.entries((value ?? {}) as Record<string, Json>)) {
			const attribute = { object: object as 'user', path };
			all.push({ kind: 'comparison', attribute, operator, operand: { value: operand }, at: [name, operator] });
		}
	}
	return { condition: { kind: 'all', conditions: all } };
}

export function attributesIn(
	condition: Condition,
): readonly { readonly attribute: AttributePath; readonly at: Place; readonly built_in: boolean }[] {
	if (condition.kind === 'not') return attributesIn(condition.condition);
	if (condition.kind !== 'comparison') return condition.conditions.flatMap(attributesIn);
	const { attribute, at } = condition;
	return [{ attribute, at, built_in: ['key', 'roles', 'tenants', 'type', 'tenant'].includes(attribute.path[0] ?? '') }];
}
