import type { AcceptedKind } from './accepted-kinds.js';

/** An operator without its code. */
export interface OperatorForm {
	/** Phrases for explanations: `<attribute> <phrase> <operand>`. */
	readonly words: { readonly holds: string; readonly fails: string };
	readonly attribute: AcceptedKind;
	readonly operand: AcceptedKind;
	/** Other names with the same meaning. */
	readonly aliases?: readonly string[];
	/** If set, the operand cannot be a `ref`. */
	readonly literal?: true;
}

function takes(attribute: AcceptedKind, operand: AcceptedKind, holds: string, fails: string): OperatorForm {
	return { words: { holds, fails }, attribute, operand };
}

/** All operators, in the guide's order, without their code, for the compiler and for forms in browsers. */
export const operatorTable = {
	equals: takes('compared', 'compared', 'equals', 'does not equal'),
	'not-equals': takes('compared', 'compared', 'does not equal', 'equals'),
	'greater-than': takes('orderable', 'orderable', 'is greater than', 'is not greater than'),
	'greater-than-equals': takes('orderable', 'orderable', 'is at least', 'is less than'),
	'less-than': takes('orderable', 'orderable', 'is less than', 'is not less than'),
	'less-than-equals': takes('orderable', 'orderable', 'is at most', 'is greater than'),
	between: takes('orderable', 'range', 'is between', 'is not between'),
	in: takes('compared', 'list', 'is in', 'is not in'),
	'not-in': takes('compared', 'list', 'is none of', 'is one of'),
	contains: { ...takes('searched', 'sought', 'contains', 'does not contain'), aliases: ['string_contains'] },
	'starts-with': takes('string', 'string', 'starts with', 'does not start with'),
	'ends-with': takes('string', 'string', 'ends with', 'does not end with'),
	matches: { ...takes('matched', 'string', 'matches', 'does not match'), literal: true },
	'in-cidr': takes('address', 'ranges', 'is within', 'is outside'),
	'within-last': { ...takes('instant', 'duration', 'is within the last', 'is not within the last'), literal: true },
	'older-than': { ...takes('instant', 'duration', 'is older than', 'is not older than'), literal: true },
	array_contains: takes('list', 'compared', 'contains', 'does not contain'),
	array_subset: takes('list', 'list', 'has only items of', 'has an item that is not in'),
	array_superset: takes('list', 'list', 'has every item of', 'lacks an item of'),
	array_intersect: takes('list', 'list', 'has an item of', 'has no item of'),
	object_match: {
		...takes('object', 'match', 'is an object that matches', 'is an object that does not match'),
		literal: true,
	},
	any_match: { ...takes('array', 'match', 'has an item that matches', 'has no item that matches'), literal: true },
	all_match: {
		...takes('array', 'match', 'has only items that match', 'has an item that does not match'),
		literal: true,
	},
	'is-null': { ...takes('anything', 'boolean', 'is missing or null', 'is present'), literal: true },
} as const;

export type OperatorName = keyof typeof operatorTable;
