/** What operators take: kinds of values, told to the parser, to the evaluation and to Rego alike. */
import type { Json } from '../model.js';
import { type Fragment, rego } from '../rego/rego.js';
import { itemsOf, type Kind, kindOf } from './value.js';

/** What one side of a comparison may be. */
export type Taken = 'anything' | 'orderable' | 'number' | 'string' | 'boolean' | 'array' | 'object' | 'range' | 'match';

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
	orderable: {
		says: 'a number or a string',
		takes: (value) => isOrderable(kindOf(value)),
		refused: rego`compare.not_orderable`,
	},
	number: {
		says: 'a number',
		takes: (value) => kindOf(value) === 'number',
		refused: rego`compare.not_number`,
		accepted: rego`is_number`,
	},
	string: {
		says: 'a string',
		takes: (value) => kindOf(value) === 'string',
		refused: rego`compare.not_string`,
		accepted: rego`is_string`,
	},
	boolean: { says: 'true or false', takes: (value) => kindOf(value) === 'boolean' },
	array: {
		says: 'an array',
		takes: (value) => kindOf(value) === 'array',
		refused: rego`compare.not_array`,
		accepted: rego`is_array`,
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
		isOrderable(kindOf(first)) &&
		kindOf(first) === kindOf(second)
	);
}

function isOrderable(kind: Kind): boolean {
	return kind === 'number' || kind === 'string';
}
