/** The operators, for the parser, messages, Rego, JsonLogic, explanations and the guide. */
import type { Json } from '../model.js';
import { jsonValue } from '../rego/json-value.js';
import { Fragment, lines, rego } from '../rego/rego.js';
import { longest, rangeTexts } from './accepted-kinds.js';
import { isInRange, parseAddress, parseAddressRange } from './address.js';
import { timeBefore } from './duration.js';
import { type OperatorForm, type OperatorName, operatorTable } from './operator-table.js';
import { arrayItems, compareValues, equal, valueSet } from './value.js';

/**
 * True if a regular expression (RE2) matches anywhere in a string. The caller provides this function, because the
 * compiler has no regular expression engine.
 */
export type PatternMatcher = (pattern: string, text: string) => boolean;

/** Both sides of a comparison, as Rego. */
export interface Sides {
	readonly attribute: Fragment;
	readonly operand: Fragment;
	/** The operand's value; `undefined` for a `ref`. */
	readonly literal: Json | undefined;
	/** If set, an earlier statement has checked the kinds of both sides. */
	readonly guarded: boolean;
	/** If set, the operand is known to be exact (keys are), so a value equal to it is also exact. */
	readonly exact: boolean;
}

/** Complete operator definition. */
export interface Operator extends Required<Omit<OperatorForm, 'literal'>>, OperatorCode {
	readonly name: string;
	/** An additional note for the guide. */
	readonly note: string;
	/** If set, the operand cannot be a `ref`. */
	readonly literal?: true;
}

/** The part of an operator that only the compiler needs. */
interface OperatorCode {
	readonly note?: string;
	/** If set, both sides must have the same kind: numbers or strings. */
	readonly ordered?: true;
	/** If set, the operator's Rego needs no guard, because it is never true for rejected values. */
	readonly guards?: true;
	/**
	 * Set if the operand is a condition. `object` applies the condition to the attribute itself, `any` and `all` apply it
	 * to the items of an array.
	 */
	readonly match?: 'object' | 'any' | 'all';
	/** Result for a missing attribute; false if absent. */
	readonly missing?: (operand: Json) => boolean;
	/**
	 * Prepares the operator for an operand, and returns a test for attribute values at a time in milliseconds since 1970.
	 * Both values are present and accepted, and have the same kind if `ordered` is set.
	 */
	readonly holdsFor: (operand: Json, matches: PatternMatcher) => (attribute: Json, now: number) => boolean;
	/**
	 * Writes the operator as Rego statements, all of which must be true. Each side is an accepted value, null or
	 * undefined, unless `guards` is set.
	 */
	readonly rego: (sides: Sides) => readonly Fragment[];
	/** Writes a Rego statement that is true if the engine cannot use the operand. The comparison is then mistyped. */
	readonly unusable?: (operand: Fragment) => Fragment;
	/** Example operand for the guide. */
	readonly example: Json;
}

/** Maximum regular expression length, in characters. */
export const maxPatternLength = 1000;

/**
 * Maximum regular expression length inside `match`, in characters. It is shorter because the expression runs on many
 * strings.
 */
export const maxItemsPatternLength = 250;

const orderingNote = 'Strings are ordered by code point, so ISO 8601 times in UTC sort correctly.';
const durationNote = 'Months and years are rejected, because their length varies.';
const matching = { holdsFor: () => () => false, rego: () => [] } as const;

function relatedNote(names: string): string {
	return `With \`fk_resource_type\`, ${names}, whose stored attributes are compared.`;
}

const operatorCode: Readonly<Record<OperatorName, OperatorCode>> = {
	equals: {
		note: 'Equality is JSON equality: a number never equals a string.',
		guards: true,
		holdsFor: (operand) => (attribute) => equal(attribute, operand),
		rego: (sides) => [
			...whenRef(sides, there),
			rego`${sides.attribute} == ${sides.operand}`,
			...(sides.guarded && !sides.exact ? whenRef(sides, exact) : []),
		],
		example: 'Engineering',
	},
	'not-equals': {
		note: 'The attribute must be present; a missing attribute does not match.',
		holdsFor: (operand) => (attribute) => !equal(attribute, operand),
		rego: (sides) => [
			there(sides.attribute),
			...whenRef(sides, there, sides.operand),
			rego`${sides.attribute} != ${sides.operand}`,
		],
		example: 'Engineering',
	},
	'greater-than': {
		ordered: true,
		note: orderingNote,
		holdsFor: (operand) => (attribute) => compareValues(attribute, operand) > 0,
		rego: (sides) => [
			...unguarded(sides, whenRef(sides, there, sides.operand)),
			rego`${sides.attribute} > ${sides.operand}`,
		],
		example: 18,
	},
	'greater-than-equals': {
		ordered: true,
		note: orderingNote,
		holdsFor: (operand) => (attribute) => compareValues(attribute, operand) >= 0,
		rego: (sides) => [
			...unguarded(sides, whenRef(sides, there, sides.operand)),
			rego`${sides.attribute} >= ${sides.operand}`,
		],
		example: 18,
	},
	'less-than': {
		ordered: true,
		note: orderingNote,
		holdsFor: (operand) => (attribute) => compareValues(attribute, operand) < 0,
		rego: (sides) => [...unguarded(sides, [there(sides.attribute)]), rego`${sides.attribute} < ${sides.operand}`],
		example: '2030-01-01T00:00:00Z',
	},
	'less-than-equals': {
		ordered: true,
		note: orderingNote,
		holdsFor: (operand) => (attribute) => compareValues(attribute, operand) <= 0,
		rego: (sides) => [...unguarded(sides, [there(sides.attribute)]), rego`${sides.attribute} <= ${sides.operand}`],
		example: 65,
	},
	between: {
		note: 'Both bounds are inclusive.',
		ordered: true,
		holdsFor: (operand) => {
			const [first = null, last = null] = arrayItems(operand);
			return (attribute) => compareValues(attribute, first) >= 0 && compareValues(attribute, last) <= 0;
		},
		// Null sorts below everything, so it never reaches the lower bound.
		rego: (sides) => [
			rego`${sides.attribute} >= ${rangeEnd(sides, 0)}`,
			rego`${sides.attribute} <= ${rangeEnd(sides, 1)}`,
		],
		example: [18, 65],
	},
	in: {
		note: 'A long list slows down every check. Store a growing list in an attribute instead.',
		guards: true,
		holdsFor: (operand) => valueSet(operand).has,
		rego: (sides) => [
			...whenRef(sides, there),
			...(sides.guarded ? whenRef(sides, (operand) => rego`compare.list(${operand})`, sides.operand) : []),
			isIn(sides.attribute, sides.operand, sides.literal),
		],
		example: ['sales', 'support'],
	},
	'not-in': {
		note: 'The attribute must be present; a missing attribute does not match.',
		holdsFor: (operand) => {
			const items = valueSet(operand);
			return (attribute) => !items.has(attribute);
		},
		rego: (sides) => [
			there(sides.attribute),
			...unguarded(sides, whenRef(sides, there, sides.operand)),
			rego`not ${isIn(sides.attribute, sides.operand, sides.literal)}`,
		],
		example: ['sales', 'support'],
	},
	contains: {
		note: `The operand has at most ${longest.sought} characters, and the attribute at most ${longest.searched}. For items of an array, use \`array_contains\`.`,
		holdsFor: (operand) => (attribute) => String(attribute).includes(String(operand)),
		rego: ({ attribute, operand }) => [rego`contains(${attribute}, ${operand})`],
		example: '@acme',
	},
	'starts-with': {
		guards: true,
		holdsFor: (operand) => (attribute) => String(attribute).startsWith(String(operand)),
		rego: ({ attribute, operand }) => [rego`startswith(${attribute}, ${operand})`],
		example: 'Dr.',
	},
	'ends-with': {
		guards: true,
		holdsFor: (operand) => (attribute) => String(attribute).endsWith(String(operand)),
		rego: ({ attribute, operand }) => [rego`endswith(${attribute}, ${operand})`],
		example: '.org',
	},
	matches: {
		note:
			`The operand is an RE2 regular expression, unanchored by default, with at most ${maxPatternLength} ` +
			`characters, or ${maxItemsPatternLength} inside \`match\`. The attribute has at most ${longest.matched} ` +
			'characters. Every check parses the expression: Unicode classes and repetitions take milliseconds.',
		holdsFor: (operand, matches) => (attribute) => matches(String(operand), String(attribute)),
		rego: ({ attribute, operand }) => [rego`regex.match(${operand}, ${attribute})`],
		unusable: (operand) => rego`not regex.is_valid(${operand})`,
		example: '^[a-z]+@acme\\.com$',
	},
	'in-cidr': {
		note:
			'An IPv4-mapped address, such as `::ffff:10.1.2.3`, is the IPv4 address. Leading zeros, zones and ' +
			'IPv4-mapped addresses in hexadecimal are mistyped.',
		guards: true,
		holdsFor: (operand) => {
			const ranges = rangeTexts(operand).flatMap((range) => parseAddressRange(String(range)) ?? []);
			return (attribute) => {
				const address = parseAddress(String(attribute));
				return address !== undefined && ranges.some((range) => isInRange(address, range));
			};
		},
		rego: ({ attribute, operand, literal }) => [
			literal === undefined
				? rego`compare.in_ranges(${attribute}, ${operand})`
				: rego`compare.in_cidr(${attribute}, ${jsonValue(rangeTexts(literal), '\t')})`,
		],
		example: ['10.0.0.0/8', '2001:db8::/32'],
	},
	'within-last': {
		note: `A time after the check also matches. ${durationNote}`,
		holdsFor: (operand) => (attribute, now) => compareValues(attribute, timeBefore(now, String(operand))) >= 0,
		rego: ({ attribute, literal }) => [rego`${attribute} >= ${timeAgo(literal)}`],
		example: 'P30D',
	},
	'older-than': {
		note: durationNote,
		holdsFor: (operand) => (attribute, now) => compareValues(attribute, timeBefore(now, String(operand))) < 0,
		rego: (sides) => [
			...unguarded(sides, [there(sides.attribute)]),
			rego`${sides.attribute} < ${timeAgo(sides.literal)}`,
		],
		example: 'P30D',
	},
	array_contains: {
		note: 'The operand is a single item.',
		holdsFor: (operand) => (attribute) => arrayItems(attribute).some((item) => equal(item, operand)),
		rego: (sides) => {
			// Rego would read a line with a leading minus sign as a subtraction from the previous line.
			const some = typeof sides.literal === 'number' && sides.literal < 0 ? rego`some ` : rego``;
			const found = isIn(sides.operand, sides.attribute, sides.literal === undefined ? undefined : [sides.literal]);
			return [...whenRef(sides, there, sides.operand), rego`${some}${found}`];
		},
		example: 'admin',
	},
	array_subset: {
		guards: true,
		note: 'An empty attribute matches.',
		holdsFor: (operand) => {
			const allowed = valueSet(operand);
			return (attribute) => arrayItems(attribute).every(allowed.has);
		},
		rego: ({ attribute, operand }) => [rego`compare.subset(${attribute}, ${operand})`],
		example: ['red', 'green'],
	},
	array_superset: {
		guards: true,
		note: 'Every array matches an empty operand.',
		holdsFor: (operand) => {
			const wanted = arrayItems(operand);
			return (attribute) => wanted.every(valueSet(attribute).has);
		},
		rego: ({ attribute, operand }) => [rego`compare.superset(${attribute}, ${operand})`],
		example: ['red', 'green'],
	},
	array_intersect: {
		guards: true,
		holdsFor: (operand) => {
			const wanted = valueSet(operand);
			return (attribute) => arrayItems(attribute).some(wanted.has);
		},
		rego: ({ attribute, operand }) => [rego`compare.intersects(${attribute}, ${operand})`],
		example: ['red', 'green'],
	},
	object_match: {
		...matching,
		note: `Inside \`match\`, attributes are the fields of the object, without prefix. ${relatedNote('the attribute is the key of an instance')}`,
		match: 'object',
		example: { match: { city: { equals: 'Paris' } } },
	},
	any_match: {
		...matching,
		note: `Every item must be an object. An empty array does not match. ${relatedNote('the items are keys of instances')}`,
		match: 'any',
		example: { match: { level: { 'greater-than': 3 } } },
	},
	all_match: {
		...matching,
		note: `Every item must be an object. An empty array matches. ${relatedNote('the items are keys of instances')}`,
		match: 'all',
		example: { match: { level: { 'greater-than': 3 } } },
	},
	'is-null': {
		note: '`true` matches a missing or null attribute, `false` a present attribute. No other operator matches a missing attribute.',
		missing: (operand) => operand === true,
		holdsFor: (operand) => () => operand === false,
		rego: ({ attribute }) => [there(attribute)],
		example: true,
	},
};

/** All operators, in the guide's order. */
export const operators: readonly Operator[] = Object.entries(operatorTable).map(([name, form]) => ({
	name,
	aliases: [],
	note: '',
	...form,
	// The names are the keys of the table.
	...operatorCode[name as OperatorName],
}));

const byName: ReadonlyMap<string, Operator> = new Map(
	operators.flatMap((operator) => [operator.name, ...operator.aliases].map((name) => [name, operator] as const)),
);

/** Finds an operator by name or alias; `undefined` if there is none. */
export function operatorNamed(name: string): Operator | undefined {
	return byName.get(name);
}

/**
 * Writes a check for the presence of a value. Rego compares null like any other value, so this check precedes each
 * statement that null could make true.
 */
function there(value: Fragment): Fragment {
	return rego`${value} != null`;
}

/**
 * Tests whether a value is in an array. Comparing an object with each item takes quadratic time in the number of its
 * fields, so this function searches a set of the items instead (`compare.member`). `items` is the side that is a
 * literal in the condition: the array or the value. A plain `in` is cheap if no item is an object or array.
 */
function isIn(value: Fragment, array: Fragment, items: Json | undefined): Fragment {
	const plain = items !== undefined && arrayItems(items).every((item) => typeof item !== 'object');
	if (plain) {
		return rego`${value} in ${array}`;
	}
	// `opa fmt` puts each argument on a separate line if an argument before the last has several lines.
	return value.text.includes('\n')
		? lines([
				rego`compare.member(`,
				rego`		${new Fragment(value.text.replaceAll('\n', '\n\t'))},`,
				rego`		${array},`,
				rego`	)`,
			])
		: rego`compare.member(${value}, ${array})`;
}

function exact(value: Fragment): Fragment {
	return rego`compare.exact(${value})`;
}

/** Writes a statement about `value`, by default the attribute, if the operand is a `ref`; otherwise nothing. */
function whenRef(
	{ literal, attribute }: Sides,
	ask: (value: Fragment) => Fragment,
	value: Fragment = attribute,
): readonly Fragment[] {
	return literal === undefined ? [ask(value)] : [];
}

function unguarded({ guarded }: Sides, statements: readonly Fragment[]): readonly Fragment[] {
	return guarded ? [] : statements;
}

/** Writes the check time minus a duration. This time is a rule, so a check computes it only once. */
function timeAgo(duration: Json | undefined): Fragment {
	// The grammar has accepted the duration, so it contains only digits and capital letters.
	return rego`ago.${new Fragment(String(duration))}`;
}

function rangeEnd({ operand, literal }: Sides, index: number): Fragment {
	const end = arrayItems(literal ?? null)[index];
	return end === undefined ? rego`${operand}[${index}]` : jsonValue(end);
}
