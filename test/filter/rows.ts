/** A table of documents with values that databases compare differently, and random residuals over its columns. */

import fc from 'fast-check';
import type { Json } from '../../compiler/model.js';
import { runToEnd } from '../../compiler/steps.js';
import type { Column, Residual, Row } from '../../src/filter/residual.js';
import { simplifyResidual } from '../../src/filter/simplify-residual.js';

/** A row as the database stores it. */
export interface StoredRow {
	readonly key: string;
	readonly tenant: string;
	readonly name: string | null;
	/** Its column has a collation that ignores case. */
	readonly note: string | null;
	/** A decimal whole number, which may exceed the exact range of JSON numbers. */
	readonly size: string | null;
	readonly rate: number | null;
	readonly active: boolean | null;
	/** Time in UTC with microseconds. */
	readonly at: string | null;
}

// biome-ignore format: a table with one group of strings per line
export const texts = [
	'', 'a', 'A', 'b', 'a ', ' a', 'aa', 'ab', 'é', 'E', 'e\u0301', 'ß', 'ss', '10', '9', 'true', 'null', 'İ', 'i',
	'%', '_', 'a%b', 'a_b', 'axb', '*', '?', '[a]', '\\', '\\\\', '\\%', "'", "''", '"', '`', 'o\'hara', '\n', '\r\n', '\t',
	'😀', '😀a', '\uffff', '\u{10000}', '\u{10ffff}', "'; drop table documents; --", '$1', '?', ':a', '@p1', '--', '/*', '*/',
];
const long = ['x'.repeat(20_000), `${'x'.repeat(20_000)}a`];
const wholes = [
	'0',
	'1',
	'-1',
	'2',
	'10',
	'9007199254740991',
	'9007199254740994',
	'-9007199254740991',
	'-9007199254740994',
];
const rates = [0, -0, 1, 0.1, -0.1, 1.5, 1e-7, 9007199254740991, 9007199254740992, 1e300, -1e300];
const times = [
	'2030-01-01T00:00:00.000000Z',
	'2030-01-01T00:00:00.000500Z',
	'2030-01-01T00:00:00.001000Z',
	'1969-12-31T23:59:59.999999Z',
	'9999-12-31T23:59:59.999000Z',
	'2030-06-01T12:30:00.123456Z',
];
const tenants = ['acme', 'Acme', 'acme ', 'globex'];

const orNull = <T>(values: readonly T[]): fc.Arbitrary<T | null> =>
	fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: fc.constant(null) });

/** Rows with different keys. */
export function anyRows(count: number): fc.Arbitrary<readonly StoredRow[]> {
	const row = fc.record({
		tenant: fc.constantFrom(...tenants),
		name: orNull([...texts, ...long]),
		note: orNull(texts),
		size: orNull(wholes),
		rate: orNull(rates),
		active: orNull([true, false]),
		at: orNull(times),
	});
	return fc
		.array(row, { minLength: count, maxLength: count })
		.map((rows) => rows.map((one, index) => ({ key: keys[index] ?? `key-${index}`, ...one })));
}

const keys = ['a', 'A', 'b', 'B-1', 'b_1', 'true', '10', 'null'];

/** Returns the row that an application sends with a check. */
export function asRow({ key, tenant, size, at, ...others }: StoredRow): Row {
	const attributes = {
		...others,
		size: size === null ? null : Number(size),
		// A JSON time has milliseconds.
		at: at === null ? null : `${at.slice(0, 23)}Z`,
	};
	return { key, tenant, attributes };
}

const attribute = (name: string, type: string): Column => ({ kind: 'attribute', path: [name], type });
const columns: readonly Column[] = [
	{ kind: 'key' },
	{ kind: 'tenant' },
	attribute('name', 'string'),
	attribute('name', 'string'),
	attribute('note', 'string'),
	attribute('size', 'number'),
	attribute('rate', 'number'),
	attribute('active', 'bool'),
	attribute('at', 'time'),
];

const text = fc.constantFrom(...texts, ...tenants, ...keys);
const number = fc.constantFrom(0, -0, 1, -1, 0.1, 1.5, 2, 10, 1e-7, 9007199254740991, -9007199254740991);
const time = fc.constantFrom(
	'2030-01-01T00:00:00.000Z',
	'2030-01-01T00:00:00.001Z',
	'1969-12-31T23:59:59.999Z',
	'9999-12-31T23:59:59.999Z',
);
const scalar = fc.oneof({ weight: 3, arbitrary: text }, number, fc.boolean(), time);
const ordered = fc.oneof({ weight: 2, arbitrary: text }, number, { weight: 2, arbitrary: time });

/** Durations, as operands that are subtracted from the check time. */
export const durations: fc.Arbitrary<Json> = fc.constantFrom('PT0S', 'PT1S', 'P1D', 'P36500D');

/** Operators, each with operands that it may or may not accept. */
export const operands: readonly (readonly [string, fc.Arbitrary<Json>])[] = [
	['equals', scalar],
	['not-equals', scalar],
	['greater-than', ordered],
	['greater-than-equals', ordered],
	['less-than', ordered],
	['less-than-equals', ordered],
	['between', fc.oneof(fc.tuple(text, text), fc.tuple(number, number), fc.tuple(time, time))],
	['in', fc.array(scalar, { maxLength: 4 })],
	['not-in', fc.array(scalar, { maxLength: 4 })],
	['contains', fc.oneof({ weight: 8, arbitrary: text }, number)],
	['starts-with', fc.oneof({ weight: 8, arbitrary: text }, number)],
	['ends-with', fc.oneof({ weight: 8, arbitrary: text }, number)],
	['array_contains', scalar],
	['is-null', fc.boolean()],
];

const column = fc.constantFrom(...columns);
const withValue = fc.oneof(
	...operands.map(([operator, operand]) =>
		fc.record({
			column,
			operator: fc.constant(operator),
			operand: fc
				.oneof({ weight: 12, arbitrary: operand }, { weight: 1, arbitrary: fc.constant(null) })
				.map((value) => ({ value })),
		}),
	),
);
const relation = fc.constantFrom('equals', 'not-equals', 'greater-than', 'less-than-equals');
const duration = fc.record({
	column: fc.constantFrom(attribute('at', 'time'), attribute('at', 'time'), ...columns),
	operator: fc.constantFrom('within-last', 'older-than'),
	operand: durations.map((value) => ({ value })),
	now: fc.constantFrom(0, 1_000, 2_000, ...['2030-01-01T00:00:00.000Z', '2030-01-01T00:00:01.001Z'].map(Date.parse)),
});
const withColumn = fc.record({ column, operator: relation, operand: column.map((other) => ({ column: other })) });
const comparison = fc.record({
	kind: fc.constantFrom('comparison' as const, 'comparison' as const, 'mistyped' as const),
	part: fc.oneof(
		{ weight: 12, arbitrary: withValue },
		{ weight: 2, arbitrary: withColumn },
		{ weight: 1, arbitrary: duration },
	),
});

const tree = fc.letrec<{ residual: Residual }>((tie) => ({
	residual: fc.oneof(
		{ depthSize: 'small', withCrossShrink: true },
		{ weight: 5, arbitrary: comparison.map(({ kind, part }): Residual => ({ kind, ...part, name: 'a-set' })) },
		{ weight: 2, arbitrary: tie('residual').map((part): Residual => ({ kind: 'not', part })) },
		{
			weight: 3,
			arbitrary: fc
				.tuple(fc.constantFrom('all' as const, 'any' as const), fc.array(tie('residual'), { maxLength: 4 }))
				.map(([kind, parts]): Residual => ({ kind, parts })),
		},
	),
})).residual;

/** Residuals, half of them simplified as in answers. */
export const anyResidual: fc.Arbitrary<Residual> = fc
	.tuple(tree, fc.boolean())
	.map(([residual, isSimplified]) => (isSimplified ? runToEnd(simplifyResidual(residual)) : residual));
