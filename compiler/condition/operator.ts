/** The one table of operators: parser, messages, Rego, JsonLogic, explanations and the guide are made from its rows. */
import type { Json } from '../model.js';
import { jsonValue } from '../rego/json-value.js';
import { type Fragment, rego } from '../rego/rego.js';
import { longest, type Taken } from './kinds.js';
import { equal, itemsOf, order, valueSet } from './value.js';

/** Says whether a text holds a match of a regular expression (RE2). The compiler has no engine for it. */
export type PatternMatcher = (pattern: string, text: string) => boolean;

/** A comparison to be written in Rego. */
export interface Sides {
	readonly attribute: Fragment;
	readonly operand: Fragment;
	/** The operand's value; `undefined` when it is a `ref`. */
	readonly literal: Json | undefined;
	/** Whether a statement before has made sure that both are of kinds that the operator takes. */
	readonly guarded: boolean;
	/** Whether what equals the operand is exact, because the operand is: a key of something that is stored or asked. */
	readonly exact: boolean;
}

/** The whole truth about an operator. */
export interface Operator {
	readonly name: string;
	/** Other names that mean the same. */
	readonly aliases: readonly string[];
	/** What it asks of an attribute, and how that is said when it is not so: `<attribute> <words> <operand>`. */
	readonly words: { readonly holds: string; readonly fails: string };
	/** What stands in the guide besides. */
	readonly note: string;
	readonly attribute: Taken;
	readonly operand: Taken;
	/** Whether both sides must be of one kind: numbers, or strings. */
	readonly ordered?: true;
	/** Whether the operand cannot be a `ref`. */
	readonly literal?: true;
	/** Whether the Rego is not true of values that are not taken either: then they need no guard. */
	readonly guards?: true;
	/** How the operand, a condition, is asked of the attribute: of it as an object, or of the items of an array. */
	readonly match?: 'object' | 'any' | 'all';
	/** The answer when the attribute is missing; without it, false. */
	readonly missing?: (operand: Json) => boolean;
	/** The meaning, for values that are there, taken, and of one kind where they must be. */
	readonly holds: (attribute: Json, operand: Json, matches: PatternMatcher) => boolean;
	/** The meaning as statements that are all true, for values that are taken, null or undefined. */
	readonly rego: (sides: Sides) => readonly Fragment[];
	/** A statement that is true of an operand, written in Rego, that the engine cannot use: mistyped, like others. */
	readonly unusable?: (operand: Fragment) => Fragment;
	/** An operand, for the guide. */
	readonly example: Json;
}

/** The longest regular expression, in characters. */
export const longestPattern = 1000;

/** The longest one inside `match`, in characters: it is looked for in many texts. */
export const longestPatternOfItems = 250;

const of = { aliases: [], note: '' } as const;
const ordering = { ...of, attribute: 'orderable', operand: 'orderable', ordered: true } as const;
const orderingNote =
	'Strings are in the order of their code points, so that times as ISO 8601 in UTC are in order too.';
const texts = { ...of, attribute: 'string', operand: 'string', guards: true } as const;
const lists = { ...of, attribute: 'list', operand: 'list', guards: true } as const;
const matching = { ...of, operand: 'match', literal: true, holds: () => false, rego: () => [] } as const;

/** In the order of the guide. */
export const operators: readonly Operator[] = [
	{
		...{ ...of, name: 'equals', words: { holds: 'equals', fails: 'does not equal' } },
		note: 'Values are equal as JSON values: a number never equals its text.',
		...{ attribute: 'compared', operand: 'compared', guards: true, holds: equal, example: 'Engineering' },
		rego: (sides) => [
			...[...whenRef(sides, there), rego`${sides.attribute} == ${sides.operand}`],
			...(sides.guarded && !sides.exact ? whenRef(sides, exact) : []),
		],
	},
	{
		...{ ...of, name: 'not-equals', words: { holds: 'is other than', fails: 'is' } },
		note: 'It asks for another value, not for none: a missing attribute does not fulfil it.',
		...{ attribute: 'compared', operand: 'compared', example: 'Engineering' },
		holds: (attribute, operand) => !equal(attribute, operand),
		rego: (sides) => [
			...[there(sides.attribute), ...whenRef(sides, there, sides.operand)],
			rego`${sides.attribute} != ${sides.operand}`,
		],
	},
	{
		...{ ...ordering, name: 'greater-than', words: { holds: 'is greater than', fails: 'is not greater than' } },
		...{ note: orderingNote, example: 18 },
		holds: (attribute, operand) => order(attribute, operand) > 0,
		rego: (sides) => [
			...unguarded(sides, whenRef(sides, there, sides.operand)),
			rego`${sides.attribute} > ${sides.operand}`,
		],
	},
	{
		...{ ...ordering, name: 'greater-than-equals', words: { holds: 'is at least', fails: 'is less than' } },
		...{ note: orderingNote, example: 18 },
		holds: (attribute, operand) => order(attribute, operand) >= 0,
		rego: (sides) => [
			...unguarded(sides, whenRef(sides, there, sides.operand)),
			rego`${sides.attribute} >= ${sides.operand}`,
		],
	},
	{
		...{ ...ordering, name: 'less-than', words: { holds: 'is less than', fails: 'is not less than' } },
		...{ note: orderingNote, example: '2030-01-01T00:00:00Z' },
		holds: (attribute, operand) => order(attribute, operand) < 0,
		rego: (sides) => [...unguarded(sides, [there(sides.attribute)]), rego`${sides.attribute} < ${sides.operand}`],
	},
	{
		...{ ...ordering, name: 'less-than-equals', words: { holds: 'is at most', fails: 'is greater than' } },
		...{ note: orderingNote, example: 65 },
		holds: (attribute, operand) => order(attribute, operand) <= 0,
		rego: (sides) => [...unguarded(sides, [there(sides.attribute)]), rego`${sides.attribute} <= ${sides.operand}`],
	},
	{
		...{ ...of, name: 'between', words: { holds: 'is between', fails: 'is not between' } },
		note: 'Both ends are in.',
		...{ attribute: 'orderable', operand: 'range', ordered: true, example: [18, 65] },
		holds: (attribute, operand) => {
			const [first = null, last = null] = itemsOf(operand);
			return order(attribute, first) >= 0 && order(attribute, last) <= 0;
		},
		// A null is less than everything, so it is not at least the first end.
		rego: (sides) => [rego`${sides.attribute} >= ${endOf(sides, 0)}`, rego`${sides.attribute} <= ${endOf(sides, 1)}`],
	},
	{
		...{ ...of, name: 'in', words: { holds: 'is in', fails: 'is not in' } },
		note: 'A long list costs time at every check: what grows belongs into an attribute.',
		...{ attribute: 'compared', operand: 'list', guards: true, example: ['sales', 'support'] },
		holds: (attribute, operand) => valueSet(operand).has(attribute),
		rego: (sides) => [
			...whenRef(sides, there),
			...(sides.guarded ? whenRef(sides, (operand) => rego`compare.list(${operand})`, sides.operand) : []),
			isIn(sides.attribute, sides.operand, sides.literal),
		],
	},
	{
		...{ ...of, name: 'not-in', words: { holds: 'is none of', fails: 'is one of' } },
		note: 'It asks for another value, not for none: a missing attribute does not fulfil it.',
		...{ attribute: 'compared', operand: 'list', example: ['sales', 'support'] },
		holds: (attribute, operand) => !valueSet(operand).has(attribute),
		rego: (sides) => [
			...[there(sides.attribute), ...unguarded(sides, whenRef(sides, there, sides.operand))],
			rego`not ${isIn(sides.attribute, sides.operand, sides.literal)}`,
		],
	},
	{
		...{ ...of, attribute: 'searched', operand: 'sought', name: 'contains', aliases: ['string_contains'] },
		...{ words: { holds: 'contains', fails: 'does not contain' }, example: '@acme' },
		note: `A string of up to ${longest.sought} characters in one of up to ${longest.searched}; for an item of an array there is \`array_contains\`.`,
		holds: (attribute, operand) => String(attribute).includes(String(operand)),
		rego: ({ attribute, operand }) => [rego`contains(${attribute}, ${operand})`],
	},
	{
		...{ ...texts, name: 'starts-with', words: { holds: 'starts with', fails: 'does not start with' }, example: 'Dr.' },
		holds: (attribute, operand) => String(attribute).startsWith(String(operand)),
		rego: ({ attribute, operand }) => [rego`startswith(${attribute}, ${operand})`],
	},
	{
		...{ ...texts, name: 'ends-with', words: { holds: 'ends with', fails: 'does not end with' }, example: '.org' },
		holds: (attribute, operand) => String(attribute).endsWith(String(operand)),
		rego: ({ attribute, operand }) => [rego`endswith(${attribute}, ${operand})`],
	},
	{
		...{ ...of, attribute: 'matched', operand: 'string', name: 'matches', literal: true },
		example: '^[a-z]+@acme\\.com$',
		words: { holds: 'matches', fails: 'does not match' },
		note: `A regular expression as RE2 reads it, found anywhere unless anchored, of up to ${longestPattern} characters, or ${longestPatternOfItems} inside \`match\`, in a string of up to ${longest.matched}. It is read anew at every check: Unicode classes and repetitions cost milliseconds.`,
		holds: (attribute, operand, matches) => matches(String(operand), String(attribute)),
		rego: ({ attribute, operand }) => [rego`regex.match(${operand}, ${attribute})`],
		unusable: (operand) => rego`not regex.is_valid(${operand})`,
	},
	{
		...{ ...of, name: 'array_contains', words: { holds: 'contains', fails: 'does not contain' } },
		note: 'The operand is one item.',
		...{ attribute: 'list', operand: 'compared', example: 'admin' },
		holds: (attribute, operand) => valueSet(attribute).has(operand),
		rego: (sides) => {
			// A minus at the beginning of a line would be taken for a subtraction from the line before it.
			const some = typeof sides.literal === 'number' && sides.literal < 0 ? rego`some ` : rego``;
			const found = isIn(sides.operand, sides.attribute, sides.literal === undefined ? undefined : [sides.literal]);
			return [...whenRef(sides, there, sides.operand), rego`${some}${found}`];
		},
	},
	{
		...{ ...lists, name: 'array_subset', words: { holds: 'has only items of', fails: 'has an item that is not in' } },
		...{ note: 'An empty attribute fulfils it.', example: ['red', 'green'] },
		holds: (attribute, operand) => isWithin(attribute, operand),
		rego: ({ attribute, operand }) => [rego`compare.subset(${attribute}, ${operand})`],
	},
	{
		...{ ...lists, name: 'array_superset', words: { holds: 'has every item of', fails: 'lacks an item of' } },
		...{ note: 'An empty operand is fulfilled by every array.', example: ['red', 'green'] },
		holds: (attribute, operand) => isWithin(operand, attribute),
		rego: ({ attribute, operand }) => [rego`compare.superset(${attribute}, ${operand})`],
	},
	{
		...{ ...lists, name: 'array_intersect', words: { holds: 'has an item of', fails: 'has no item of' } },
		example: ['red', 'green'],
		holds: (attribute, operand) => {
			const wanted = valueSet(operand);
			return itemsOf(attribute).some((item) => wanted.has(item));
		},
		rego: ({ attribute, operand }) => [rego`compare.intersects(${attribute}, ${operand})`],
	},
	{
		...{ ...matching, name: 'object_match', attribute: 'object', match: 'object' },
		words: { holds: 'is an object that matches', fails: 'is an object that does not match' },
		note: 'Inside `match`, attributes are the members of the object, by their names alone.',
		example: { match: { city: { equals: 'Paris' } } },
	},
	{
		...{ ...matching, name: 'any_match', attribute: 'array', match: 'any' },
		words: { holds: 'has an item that matches', fails: 'has no item that matches' },
		note: 'Every item must be an object. An empty array does not fulfil it.',
		example: { match: { level: { 'greater-than': 3 } } },
	},
	{
		...{ ...matching, name: 'all_match', attribute: 'array', match: 'all' },
		words: { holds: 'has only items that match', fails: 'has an item that does not match' },
		note: 'Every item must be an object. An empty array fulfils it.',
		example: { match: { level: { 'greater-than': 3 } } },
	},
	{
		...{ ...of, name: 'is-null', words: { holds: 'is missing or null', fails: 'is there' } },
		note: '`true` asks that the attribute is missing or null, `false` that it is there. No other operator asks for absence.',
		...{ attribute: 'anything', operand: 'boolean', literal: true, example: true },
		missing: (operand) => operand === true,
		holds: (_, operand) => operand === false,
		rego: ({ attribute }) => [there(attribute)],
	},
];

const byName: ReadonlyMap<string, Operator> = new Map(
	operators.flatMap((operator) => [operator.name, ...operator.aliases].map((name) => [name, operator] as const)),
);

/** The operator of that name or alias; `undefined` when there is none. */
export function operatorNamed(name: string): Operator | undefined {
	return byName.get(name);
}

/** In Rego null is a value that compares, so where it could make a statement true it is asked about before. */
function there(value: Fragment): Fragment {
	return rego`${value} != null`;
}

/**
 * That a value is in an array. Where objects may be compared, each would be with each item, in time quadratic in its
 * members: so they are looked up as items of a set. `items` are those of the array, or of the value, that stand in the
 * condition; where none is an object or array, nothing is compared that way.
 */
function isIn(value: Fragment, array: Fragment, items: Json | undefined): Fragment {
	const plain = items !== undefined && itemsOf(items).every((item) => typeof item !== 'object');
	return plain ? rego`${value} in ${array}` : rego`compare.member(${value}, ${array})`;
}

function exact(value: Fragment): Fragment {
	return rego`compare.exact(${value})`;
}

/** What must be asked where the operand is a `ref`: of the attribute, or of another value. */
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

/** An end of a range. */
function endOf({ operand, literal }: Sides, index: number): Fragment {
	const end = itemsOf(literal ?? null)[index];
	return end === undefined ? rego`${operand}[${index}]` : jsonValue(end);
}

function isWithin(inner: Json, outer: Json): boolean {
	const allowed = valueSet(outer);
	return itemsOf(inner).every((item) => allowed.has(item));
}
