/** Random conditions, and random subjects that they may select. */
import fc from 'fast-check';
import type { Attributes, Json } from '../../compiler/model.js';
import type { Subject } from '../support/conditions.js';

/**
 * Strings with a special meaning in one of the languages between the API and the engine, and strings without a meaning.
 */
// biome-ignore format: a table with one group of strings per line
export const hostile: readonly string[] = [
	'"', '\\', '`', "'", '\n', '\r\n', '\t', '\u2028', '\u0000', '\u007f', '\ufeff', '\ud83d\ude00', '\uffff', '%s', '$x',
	']', '}', '"]', '"} true', '"\n}\nholds := true\n#', '# METADATA', '---', '{{', '*', '..'.replaceAll('.', '·'),
	'__proto__', 'constructor', 'hasOwnProperty', 'toString', 'length', '0', '-1', ' ', 'null', 'true',
	'if', 'not', 'in', 'every', 'some', 'default', 'with', 'as', 'package', 'import', 'contains', 'else', 'false',
	'data', 'input', 'holds', 'mistyped', 'user', 'count', 'plus', 'is_number', 'compare', 'matches', 'any_1', 'one',
	'and', 'or', 'ref', 'match', 'var', 'allOf', 'ß', 'é', 'e\u0301', 'A', 'a', 'x'.repeat(10_000),
];

/** Attribute names. */
export const names = ['a', 'b', 'c', 'two words', '__proto__', 'constructor', 'if', 'q"uote'];
const name = fc.constantFrom(...names);
const path = fc.oneof(
	{ weight: 5, arbitrary: name },
	fc.tuple(name, name).map((parts) => parts.join('.')),
);

const text = fc.constantFrom('', 'a', 'b', 'ab', 'B', '\uff5e', '\u{1F600}', '1', ...hostile.slice(0, 12));
/** Addresses, ranges, and strings that are neither. */
const addresses = fc.constantFrom(
	...['10.0.0.1', '10.255.0.1', '0.0.0.0', '255.255.255.255', '::', '::1', '2001:DB8::1', '1:2:3:4:5:6:7::'],
	...['1:2:3:4:5:6:7:8', '::ffff:10.0.0.1', '::FFFF:10.0.0.1', '::ffff:a00:1', '::10.0.0.1', '64:ff9b::10.0.0.1'],
	...[
		'',
		'10.0.0',
		'10.0.0.1.1',
		'010.0.0.1',
		'10.0.0.256',
		' 10.0.0.1',
		'10.0.0.1/8',
		'fe80::1%eth0',
		'1::2::3',
		':::',
	],
	...[
		'1:2:3:4:5:6:7:8::',
		'::1:2:3:4:5:6:7:8',
		'12345::',
		'::1:',
		'1::2:',
		'1:2:3:4:5:6:7:8:',
		'::g',
		'0x10.0.0.1',
		'10.0.0.1\u0000',
		'１０.0.0.1',
	],
);
const addressRange = fc.constantFrom(
	...['10.0.0.0/8', '10.0.0.1/32', '0.0.0.0/0', '10.255.255.255/31', '::/0', '2001:db8::/32', '::1/128', '1:2::/33'],
);
const notRange = fc.constantFrom(
	'10.0.0.0/33',
	'10.0.0.0/08',
	'10.0.0.0',
	'::ffff:10.0.0.0/104',
	'::/129',
	'10.0.0.0/8/8',
);
const exactNumber = fc.constantFrom(0, -0, 1, 2, -1, 1.5, 1e-7, 9007199254740991, -9007199254740991);
/** Numbers that JSON parsers round. Allowed in a check's attributes, but not in conditions or stored attributes. */
const inexactNumber = fc.constantFrom(9007199254740992, -9007199254740992, 123456789012345680, 1e21, -1e300);
const number = fc.oneof({ weight: 9, arbitrary: exactNumber }, { weight: 1, arbitrary: inexactNumber });
/** Time of every random check: 2024-02-29T12:00:00.500Z. */
export const checkTime = Date.UTC(2024, 1, 29, 12, 0, 0, 500);
const second = 1000;
const day = 86_400 * second;
/** Durations, each with its length in milliseconds. */
export const durations: ReadonlyMap<string, number> = new Map([
	['PT0S', 0],
	['PT1S', second],
	['P1D', day],
	['PT24H', day],
	['P1W', 7 * day],
	['P1DT1H1M1S', day + 3661 * second],
	['P366D', 366 * day],
	['P36500D', 36_500 * day],
]);
const duration = fc.constantFrom(...durations.keys());
/** Times near the ends of the durations, and strings in other formats. */
const instant = fc.oneof(
	{
		weight: 4,
		arbitrary: fc
			.tuple(fc.constantFrom(...durations.values()), fc.constantFrom(-day, -1, 0, 1, day))
			.map(([length, beside]) => new Date(checkTime - length + beside).toISOString()),
	},
	fc.constantFrom(
		...['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.500+00:00', '2024-02-29', '2024-02-29 12:00:00.500Z'],
		...['2024-02-29t12:00:00.500z', '+02024-02-29T12:00:00.500Z', '2024-02-29T12:00:00.5000Z', 'P1D'],
		...['0000-00-00T00:00:00.000Z', '9999-99-99T99:99:99.999Z', '２024-02-29T12:00:00.500Z'],
	),
);
const time = fc.constantFrom(checkTime - 1, checkTime, checkTime + 1);
const scalar = fc.oneof(
	{ weight: 4, arbitrary: text },
	number,
	fc.boolean(),
	addresses,
	addressRange,
	notRange,
	{ weight: 2, arbitrary: instant },
	time,
);

/** JSON values, including nulls at any depth. */
const value: fc.Arbitrary<Json> = fc.letrec<{ value: Json; object: Json }>((tie) => ({
	value: fc.oneof(
		{ weight: 6, arbitrary: scalar },
		{ weight: 1, arbitrary: fc.constant(null) },
		{
			weight: 3,
			arbitrary: fc.array(fc.oneof({ depthSize: 'small' }, scalar, tie('object'), tie('value')), { maxLength: 3 }),
		},
		{ weight: 2, arbitrary: tie('object') },
	),
	object: fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
})).value;

/** Values allowed as literals: no null and no inexact numbers. Objects never contain `ref`, so none is a reference. */
const literal = value.filter((one) => one !== null && !holdsInexact(one));
const list = fc.array(literal, { maxLength: 3 });
const range = fc
	.oneof(fc.tuple(exactNumber, exactNumber), fc.tuple(text, text))
	.map(
		(ends): Json =>
			[...ends].sort((left, right) => (typeof left === 'number' ? left - Number(right) : bytes(left, right))),
	);

/** True if a value contains a number that JSON parsers round. */
export function holdsInexact(value: Json): boolean {
	if (typeof value === 'number') return Math.abs(value) >= 2 ** 53;
	return value !== null && typeof value === 'object' && Object.values(value).some(holdsInexact);
}

function bytes(left: string, right: string | number): number {
	return Buffer.compare(Buffer.from(left), Buffer.from(`${right}`));
}

const reference = fc
	.tuple(fc.constantFrom('user', 'subject', 'resource', 'tenant', 'context'), path)
	.map(([object, rest]) => ({ ref: `${object}.${rest}` }));
const anyReference = fc.oneof({ weight: 9, arbitrary: reference }, fc.constant({ ref: 'now' }));

const order = ['greater-than', 'greater-than-equals', 'less-than', 'less-than-equals'];
const texts = ['contains', 'string_contains', 'starts-with', 'ends-with'];
const lists = ['in', 'not-in', 'array_subset', 'array_superset', 'array_intersect'];

function comparison(refs: boolean, match: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
	const operand = (values: fc.Arbitrary<Json>) =>
		refs ? fc.oneof({ weight: 2, arbitrary: values }, anyReference) : values;
	const of = (operators: readonly string[], values: fc.Arbitrary<Json>) =>
		fc.tuple(fc.constantFrom(...operators), values).map(([operator, one]): Json => ({ [operator]: one }));
	return fc.oneof(
		of(['equals', 'not-equals', 'array_contains'], operand(literal)),
		of(order, operand(fc.oneof(exactNumber, text, time))),
		of(['between'], operand(range)),
		of(lists, operand(list)),
		of(texts, operand(text)),
		of(['matches'], fc.constantFrom('^a', 'b$', '.', '(?i)b', '[^a-z]', '^$', '\\pL{2}')),
		of(['in-cidr'], operand(fc.oneof(addressRange, fc.array(addressRange, { maxLength: 3 })))),
		of(['within-last', 'older-than'], duration),
		of(['is-null'], fc.boolean()),
		of(
			['object_match', 'any_match', 'all_match'],
			match.map((one) => ({ match: one })),
		),
		...(refs
			? [
					of(
						['object_match', 'any_match', 'all_match'],
						fc.tuple(match, fc.constantFrom('a', 'b')).map(([one, type]) => ({ match: one, fk_resource_type: type })),
					),
				]
			: []),
	);
}

/** Comparisons of the check's time. */
const onNow = fc
	.tuple(fc.constantFrom(...order), fc.oneof(time, reference))
	.map(([operator, operand]): Json => ({ now: { [operator]: operand } }));

/** Generates conditions that combine logic above and below attributes. */
function condition(prefixes: readonly string[], refs: boolean, match: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
	const { above } = fc.letrec<{ above: Json; below: Json }>((tie) => ({
		above: fc.oneof(
			{ depthSize: 'small', withCrossShrink: true },
			...(refs ? [onNow] : []),
			{
				weight: 3,
				arbitrary: fc
					.tuple(fc.constantFrom(...prefixes), path, tie('below'))
					.map(([prefix, rest, one]) => Object.fromEntries([[prefix + rest, one]])),
			},
			...logic(tie('above')),
		),
		below: fc.oneof(
			{ depthSize: 'small', withCrossShrink: true },
			{ weight: 4, arbitrary: comparison(refs, match) },
			...logic(tie('below')),
		),
	}));
	return above;
}

function logic(inside: fc.Arbitrary<Json>): readonly fc.MaybeWeightedArbitrary<Json>[] {
	const several = fc.array(inside, { maxLength: 3 });
	return [
		fc.tuple(fc.constantFrom('allOf', 'and'), several).map(([key, all]) => ({ [key]: all })),
		fc.tuple(fc.constantFrom('anyOf', 'or'), several).map(([key, any]) => ({ [key]: any })),
		inside.map((one) => ({ not: one })),
	];
}

const noMatch = fc.constant<Json>({});
const innerMatch = fc.oneof(noMatch, condition([''], false, noMatch));
const match = fc.oneof({ weight: 1, arbitrary: noMatch }, { weight: 5, arbitrary: condition([''], false, innerMatch) });

/** User set conditions. */
export const anyConditions: fc.Arbitrary<Json> = condition(['user.', 'user.', 'context.'], true, match);

/** Resource set conditions. */
export const anyResourceConditions: fc.Arbitrary<Json> = condition(['resource.', 'resource.', 'context.'], true, match);

/** Attributes by name. */
export const record: fc.Arbitrary<Attributes> = fc
	.array(fc.tuple(name, value), { maxLength: 6 })
	.map((entries) => Object.fromEntries(entries));

/** Subjects without built-in attributes. */
export const anySubject: fc.Arbitrary<Subject> = fc.record(
	{
		user: record,
		resource: record,
		tenant: record,
		context: record,
		now: fc.constant(checkTime),
		related: fc
			.array(fc.tuple(fc.constantFrom('a', 'b'), text, record), { minLength: 4, maxLength: 12 })
			.map((instances) =>
				Object.fromEntries(instances.map(([type, key, attributes]) => [`${type}:${key}`, attributes])),
			),
	},
	{ noNullPrototype: true },
);
