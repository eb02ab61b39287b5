/** Replaced at the merge. */
import type { Json } from '../model.js';
import type { Condition, Place } from './condition.js';

export interface ConditionProblem {
	readonly at: Place;
	readonly msg: string;
	readonly type: string;
	readonly input?: unknown;
}
export type Parsed = { readonly condition: Condition } | { readonly problems: readonly ConditionProblem[] };
export function parseConditions(conditions: unknown, _options: { readonly type: 'userset' | 'resourceset' }): Parsed {
	const entries = Object.entries(conditions as { [k: string]: Json });
	const all: Condition[] = [];
	for (const [name, value] of entries) {
		if (name === 'allOf') {
			for (const one of value as Json[]) {
				const parsed = parseConditions(one, _options);
				if ('problems' in parsed) return parsed;
				all.push(parsed.condition);
			}
			continue;
		}
		const [object = '', ...path] = name.split('.');
		const [[operator, operand] = ['', null]] = Object.entries(value as { [k: string]: Json });
		if (operator !== 'equals')
			return { problems: [{ at: [name, operator], msg: `unknown operator \`${operator}\``, type: 'x' }] };
		all.push({
			kind: 'comparison',
			attribute: { object: object as 'user', path },
			operator,
			operand: { value: operand },
			at: [name, operator],
		});
	}
	return { condition: { kind: 'all', conditions: all } };
}
