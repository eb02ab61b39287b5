/** What operators take: kinds of values, told to the parser, to the evaluation and to Rego alike. */
import type { Json } from '../model.js';
import { type Fragment, rego } from '../rego/rego.js';
import { greatestWhole, isInexact, itemsOf, type Kind, kindOf } from './value.js';

/** What one side of a comparison may be. */
export type Taken =
	| 'anything'
	| 'compared'
	| 'orderable'
	| 'number'
	| 'string'
	| 'searched'
	| 'sought'
	| 'matched'
	| 'boolean'
	| 'array'
	| 'list'
	| 'object'
	| 'range'
	| 'match';

/**
 * How long strings may be, in characters: of which one is looked for in the other, where the engine looks at every place
 * anew, and in which a regular expression is looked for. A check could be made to take minutes.
 */
export const longest = { searched: 20_000, sought: 250, matched: 1_000 } as const;

interface Rule {
	/** For messages: `must be …`. */
	readonly says: string;
	/** Whether a value that is not null is taken. */
	takes(value: Json): boolean;
	/** The function of the library that says of a value that it is there and not taken; none where everything is. */
	readonly refused?: Fragment;
	/** The function that says of a value that it is taken. */
	readonly accepted?: Fragment;
}

/** By name. */
export const taken: Readonly<Record<Taken, Rule>> = {
	anything: { says: 'any value but null', takes: () => true },
	compared: {
		says: 'any value but null',
		takes: (value) => !isInexact(value),
		refused: rego`compare.inexact`,
		accepted: rego`compare.exact`,
	},
	orderable: {
		says: 'a number or a string',
		takes: isOrderable,
		refused: rego`compare.not_orderable`,
	},
	number: {
		says: 'a number',
		takes: (value) => kindOf(value) === 'number' && !isInexact(value),
		refused: rego`compare.not_number`,
		accepted: rego`compare.number`,
	},
	string: {
		says: 'a string',
		takes: (value) => kindOf(value) === 'string',
		refused: rego`compare.not_string`,
		accepted: rego`is_string`,
	},
	searched: {
		says: `a string of up to ${longest.searched} characters`,
		takes: (value) => isStringUpTo(longest.searched, value),
		refused: rego`compare.not_searched`,
		accepted: rego`compare.searched`,
	},
	sought: {
		says: `a string of up to ${longest.sought} characters`,
		takes: (value) => isStringUpTo(longest.sought, value),
		refused: rego`compare.not_sought`,
		accepted: rego`compare.sought`,
	},
	matched: {
		says: `a string of up to ${longest.matched} characters`,
		takes: (value) => isStringUpTo(longest.matched, value),
		refused: rego`compare.not_matched`,
		accepted: rego`compare.matched`,
	},
	boolean: { says: 'true or false', takes: (value) => kindOf(value) === 'boolean' },
	array: {
		says: 'an array',
		takes: (value) => kindOf(value) === 'array',
		refused: rego`compare.not_array`,
		accepted: rego`is_array`,
	},
	list: {
		says: 'an array',
		takes: (value) => kindOf(value) === 'array' && !isInexact(value),
		refused: rego`compare.not_list`,
		accepted: rego`compare.list`,
	},
	object: {
		says: 'an object',
		takes: (value) => kindOf(value) === 'object',
		refused: rego`compare.not_object`,
		accepted: rego`is_object`,
	},
	range: {
		says: 'an array of two numbers or of two strings',
		takes: isRange,
		refused: rego`compare.not_range`,
		accepted: rego`compare.range`,
	},
	match: { says: 'an object with the one member `match`', takes: () => false },
};

/** What is said of a value that may stand for another one. */
export const inexactText = `whole numbers beyond ${greatestWhole} either way are not exact: readers of JSON round them`;

/** The kind of values that can be compared by order with this operand: a range is of the kind of its ends. */
export function kindToOrder(operand: Json): Kind {
	return kindOf(itemsOf(operand)[0] ?? operand);
}

function isRange(value: Json): boolean {
	const [first, second, ...others] = itemsOf(value);
	return (
		first !== undefined &&
		second !== undefined &&
		others.length === 0 &&
		isOrderable(first) &&
		isOrderable(second) &&
		kindOf(first) === kindOf(second)
	);
}

/** Characters are code points, of which one or two make up the length. */
function isStringUpTo(most: number, value: Json): boolean {
	if (typeof value !== 'string') {
		return false;
	}
	return value.length <= most || (value.length <= 2 * most && [...value].length <= most);
}

function isOrderable(value: Json): boolean {
	const kind = kindOf(value);
	return kind === 'string' || (kind === 'number' && !isInexact(value));
}
