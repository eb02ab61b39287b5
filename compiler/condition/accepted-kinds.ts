/** The value kinds accepted by operators: a common table for the parser, the evaluator and the Rego writer. */
import type { Json } from '../model.js';
import { type Fragment, rego } from '../rego/rego.js';
import { parseAddress, parseAddressRange } from './address.js';
import { durationLength, isInstant, maxDays } from './duration.js';
import { arrayItems, greatestWhole, isInexact, jsonKind, type Kind } from './value.js';

/** Accepted values on a side of a comparison. */
export type AcceptedKind =
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
	| 'address'
	| 'ranges'
	| 'instant'
	| 'duration'
	| 'match';

/**
 * Maximum string lengths, in characters, for operations with more than linear time. Substring search looks for `sought`
 * in `searched`, and the engine restarts it at every position. Regular expressions run on `matched`. Without these
 * limits a check could take minutes.
 */
export const longest = { searched: 20_000, sought: 250, matched: 1_000 } as const;

/** Maximum number of ranges in an operand, because each check parses the ranges. */
const maxRanges = 100;

interface Rule {
	/** Completes the message `must be …`. */
	readonly description: string;
	/** True if a value other than null is accepted. */
	accepts(value: Json): boolean;
	/** Library function to detect a rejected value, except a missing value. Absent if every value is accepted. */
	readonly refused?: Fragment;
	/** Library function to detect an accepted value. */
	readonly accepted?: Fragment;
}

export const acceptedKinds: Readonly<Record<AcceptedKind, Rule>> = {
	anything: { description: 'any value but null', accepts: () => true },
	compared: {
		description: 'any value but null',
		accepts: (value) => !isInexact(value),
		refused: rego`compare.inexact`,
		accepted: rego`compare.exact`,
	},
	orderable: {
		description: 'a number or a string',
		accepts: isOrderable,
		refused: rego`compare.not_orderable`,
	},
	number: {
		description: 'a number',
		accepts: (value) => jsonKind(value) === 'number' && !isInexact(value),
		refused: rego`compare.not_number`,
		accepted: rego`compare.number`,
	},
	string: {
		description: 'a string',
		accepts: (value) => jsonKind(value) === 'string',
		refused: rego`compare.not_string`,
		accepted: rego`is_string`,
	},
	searched: {
		description: `a string of up to ${longest.searched} characters`,
		accepts: (value) => isStringUpTo(longest.searched, value),
		refused: rego`compare.not_searched`,
		accepted: rego`compare.searched`,
	},
	sought: {
		description: `a string of up to ${longest.sought} characters`,
		accepts: (value) => isStringUpTo(longest.sought, value),
		refused: rego`compare.not_sought`,
		accepted: rego`compare.sought`,
	},
	matched: {
		description: `a string of up to ${longest.matched} characters`,
		accepts: (value) => isStringUpTo(longest.matched, value),
		refused: rego`compare.not_matched`,
		accepted: rego`compare.matched`,
	},
	boolean: { description: 'true or false', accepts: (value) => jsonKind(value) === 'boolean' },
	array: {
		description: 'an array',
		accepts: (value) => jsonKind(value) === 'array',
		refused: rego`compare.not_array`,
		accepted: rego`is_array`,
	},
	list: {
		description: 'an array',
		accepts: (value) => jsonKind(value) === 'array' && !isInexact(value),
		refused: rego`compare.not_list`,
		accepted: rego`compare.list`,
	},
	object: {
		description: 'an object',
		accepts: (value) => jsonKind(value) === 'object',
		refused: rego`compare.not_object`,
		accepted: rego`is_object`,
	},
	range: {
		description: 'an array of two numbers or two strings',
		accepts: isRange,
		refused: rego`compare.not_range`,
		accepted: rego`compare.range`,
	},
	address: {
		description: 'an IP address, such as "10.1.2.3" or "2001:db8::1"',
		accepts: (value) => typeof value === 'string' && parseAddress(value) !== undefined,
		refused: rego`compare.not_address`,
		accepted: rego`compare.address`,
	},
	ranges: {
		description: `a CIDR range, such as "10.0.0.0/8", or an array of up to ${maxRanges} such ranges`,
		accepts: isRanges,
		refused: rego`compare.not_ranges`,
		accepted: rego`compare.ranges`,
	},
	instant: {
		description: 'a time in UTC with milliseconds, such as "2026-10-25T09:30:00.000Z"',
		accepts: (value) => typeof value === 'string' && isInstant(value),
		refused: rego`compare.not_instant`,
		accepted: rego`compare.instant`,
	},
	duration: {
		description:
			'an ISO 8601 duration in weeks, days, hours, minutes and seconds, such as "P30D" or "PT8H", of up to ' +
			`${maxDays} days`,
		accepts: (value) => typeof value === 'string' && durationLength(value) !== undefined,
	},
	match: { description: 'an object with `match`, and optionally `fk_resource_type`', accepts: () => false },
};

/** The reason for rejecting an inexact number. */
export const inexactText = `whole numbers beyond ±${greatestWhole} are not exact: JSON parsers round them`;

/** Returns the kind that a value must have to be ordered against this operand: for a range, the kind of its bounds. */
export function orderedKind(operand: Json): Kind {
	return jsonKind(arrayItems(operand)[0] ?? operand);
}

function isRange(value: Json): boolean {
	const [first, second, ...others] = arrayItems(value);
	return (
		first !== undefined &&
		second !== undefined &&
		others.length === 0 &&
		isOrderable(first) &&
		isOrderable(second) &&
		jsonKind(first) === jsonKind(second)
	);
}

function isRanges(value: Json): boolean {
	const ranges = rangeTexts(value);
	return (
		ranges.length <= maxRanges &&
		(ranges.length > 0 || Array.isArray(value)) &&
		ranges.every((range) => typeof range === 'string' && parseAddressRange(range) !== undefined)
	);
}

/** Returns an array of ranges unchanged, and a single range as an array. */
export function rangeTexts(value: Json): readonly Json[] {
	return typeof value === 'string' ? [value] : arrayItems(value);
}

/** Counts characters as code points: each takes one or two units of `length`. */
function isStringUpTo(most: number, value: Json): boolean {
	if (typeof value !== 'string') {
		return false;
	}
	return value.length <= most || (value.length <= 2 * most && [...value].length <= most);
}

function isOrderable(value: Json): boolean {
	const kind = jsonKind(value);
	return kind === 'string' || (kind === 'number' && !isInexact(value));
}
