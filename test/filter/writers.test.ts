// @both

/** Filter writers: large filters, inferred column types, and the format of Permit's plugin. */

import test from 'ava';
import type { Json } from '../../compiler/model.js';
import { runToEnd, type Steps } from '../../compiler/steps.js';
import { ColumnMappingError } from '../../src/filter/column-mapping.js';
import { compileResidual } from '../../src/filter/evaluate-residual.js';
import { inferKinds } from '../../src/filter/infer-kinds.js';
import { type Column, FilterRefusal, type Residual } from '../../src/filter/residual.js';
import { simplifyResidual } from '../../src/filter/simplify-residual.js';
import { type SqlDialectName, sqlDialects, toSql, toSqlLiterals } from '../../src/filter/sql/to-sql.js';
import { toCerbosPlan } from '../../src/filter/to-cerbos-plan.js';
import { toPrismaWhere } from '../../src/filter/to-prisma-where.js';
import { toUcast } from '../../src/filter/to-ucast.js';
import { writePermitFilter } from '../../src/filter/write-permit-filter.js';
import { stepsIn } from '../support/steps-in.js';

function compare(name: string, operator: string, value: Json): Residual {
	const column: Column = name === 'key' || name === 'tenant' ? { kind: name } : { kind: 'attribute', path: [name] };
	return { kind: 'comparison', column, operator, operand: { value }, name: 'a-set' };
}

const not = (part: Residual): Residual => ({ kind: 'not', part });
const all = (...parts: readonly Residual[]): Residual => ({ kind: 'all', parts });
const any = (...parts: readonly Residual[]): Residual => ({ kind: 'any', parts });

const dialects = Object.keys(sqlDialects) as SqlDialectName[];
const columns = {
	key: 'id',
	tenant: 'tenant',
	name: { column: 'name', type: 'string' },
	at: { column: 'at', type: 'time' },
};

const untyped = Object.fromEntries(['key', 'tenant', 'name', 'at', 'tags', 'level'].map((name) => [name, name]));

/** Writers that infer column types. */
const inferringSteps: Readonly<Record<string, (residual: Residual) => Steps<unknown>>> = {
	cerbos: toCerbosPlan,
	ucast: (residual) => toUcast(residual, 'minimal', (name) => name),
	permit: writePermitFilter,
	*sql(residual) {
		return yield* toSqlLiterals(residual, 'sqlite', untyped, yield* inferKinds(residual));
	},
};
const inferring = Object.values(inferringSteps).map((write) => (residual: Residual) => runToEnd(write(residual)));

const numbers = Array.from({ length: 5_000 }, (_, index) => index);

test('large filters can be written in every format', (t) => {
	const pairs = any(
		...numbers.map((one) => all(compare('tenant', 'equals', `t${one}`), compare('key', 'equals', `k${one}`))),
	);
	const names = numbers.map((one) => `n${one}`);
	const list = all(compare('name', 'in', names), not(compare('name', 'not-in', names)));
	for (const residual of [pairs, list]) {
		for (const dialect of dialects) {
			t.true(runToEnd(toSqlLiterals(residual, dialect, columns)).length > 10_000);
			t.truthy(toSql(residual, dialect, columns).sql);
		}
		t.truthy(toPrismaWhere(residual, 'postgresql', columns));
		for (const write of inferring) t.truthy(write(residual));
	}
	const times = numbers.map((one) => new Date(one).toISOString());
	for (const operator of ['in', 'not-in']) t.truthy(toSql(compare('at', operator, times), 'sqlite', columns).sql);
});

test('large filters are simplified, evaluated and written in steps', (t) => {
	const pairs = any(
		...numbers.map((one) => all(compare('tenant', 'equals', `t${one}`), compare('key', 'equals', `k${one}`))),
	);
	const list = compare(
		'key',
		'in',
		numbers.map((one) => `k${one}`),
	);
	const matches = () => false;
	for (const work of [simplifyResidual, (residual: Residual) => compileResidual(residual, matches)]) {
		t.true(stepsIn(work(pairs)) > 200);
	}
	t.true(stepsIn(simplifyResidual(list)) > 4);
	for (const [name, write] of Object.entries(inferringSteps)) {
		t.true(stepsIn(write(pairs)) > 500, name);
		// A plan contains the list unchanged.
		if (name !== 'cerbos') t.true(stepsIn(write(list)) > 8, name);
	}
});

test('a string that databases store or compare differently is refused', (t) => {
	for (const text of ['a\0b', '\ud800', '\udc00a']) {
		for (const residual of [
			compare('name', 'equals', text),
			not(compare('name', 'not-equals', text)),
			compare('key', 'in', ['a', text]),
			not(compare('name', 'starts-with', text)),
		]) {
			for (const write of [...inferring, (one: Residual) => toPrismaWhere(one, 'postgresql', columns)]) {
				t.throws(() => write(residual), { instanceOf: FilterRefusal, message: /a character that some databases/ });
			}
		}
	}
});

/** Residuals over columns whose types cannot be inferred reliably. */
const uncertain: readonly Residual[] = [
	compare('tags', 'array_contains', 'a'),
	not(compare('tags', 'array_intersect', ['a'])),
	compare('tags', 'array_subset', ['a']),
	compare('tags', 'array_superset', ['a']),
	any(compare('tags', 'equals', 'a'), compare('tags', 'array_contains', 'a')),
	any(compare('level', 'equals', '5'), compare('level', 'greater-than', 7)),
	...['equals', 'not-equals', 'less-than-equals', 'greater-than'].map((operator) =>
		compare('at', operator, '2030-01-01T00:00:00.000Z'),
	),
	compare('at', 'in', ['2030-01-01T00:00:00.000Z']),
	compare('at', 'between', ['2030-01-01T00:00:00.000Z', '2031-01-01T00:00:00.000Z']),
];

test('a comparison with a column of an uncertain type is rejected', (t) => {
	for (const residual of uncertain) {
		for (const write of inferring) {
			t.throws(() => write(residual), { instanceOf: FilterRefusal }, JSON.stringify(residual));
		}
	}
});

test('an inferred time column allows only comparisons on which strings and timestamps agree', (t) => {
	const time = '2030-01-01T00:00:00.000Z';
	const plan = (operator: string) => ({
		kind: 'KIND_CONDITIONAL' as const,
		condition: { expression: { operator, operands: [{ variable: 'request.resource.attr.at' }, { value: time }] } },
	});
	t.deepEqual(runToEnd(toCerbosPlan(compare('at', 'greater-than-equals', time))), plan('ge'));
	t.deepEqual(runToEnd(toCerbosPlan(compare('at', 'less-than', time))), plan('lt'));
});

test('a UUID in SQLite is a string for Prisma', (t) => {
	const uuid = '0B5A3F0E-1C2D-4E5F-8A9B-0C1D2E3F4A5B';
	const fields = { name: { column: 'name', type: 'uuid', required: true } };
	t.deepEqual(toPrismaWhere(compare('name', 'not-equals', uuid), 'sqlite', fields), { name: { not: uuid } });
	t.deepEqual(toPrismaWhere(compare('name', 'not-equals', uuid), 'postgresql', fields), { AND: [] });
});

test('a Prisma field must not have the name of an operator', (t) => {
	for (const name of ['AND', 'OR', 'NOT']) {
		for (const fields of [
			{ name, key: 'id' },
			{ name: 'name', key: `id.${name}` },
		]) {
			t.throws(() => toPrismaWhere(compare('name', 'is-null', true), 'postgresql', fields), {
				instanceOf: ColumnMappingError,
				message: /must not be an operator of Prisma/,
			});
		}
	}
});

const permit = (operator: string, name: string, value: Json) => {
	return { expression: { operator, operands: [{ variable: `input.resource.${name}` }, { value }] } };
};
const join = (operator: 'and' | 'or', ...operands: object[]) => ({ expression: { operator, operands } });
const level = 'attributes.level';
const exact = join('and', permit('ge', level, -(2 ** 53) + 1), permit('le', level, 2 ** 53 - 1));

const permitted: readonly (readonly [Residual, object])[] = [
	[compare('level', 'greater-than', 7), join('and', permit('gt', level, 7), exact)],
	[
		not(compare('level', 'greater-than', 7)),
		join(
			'or',
			permit('eq', level, null),
			permit('le', level, 7),
			join('or', permit('lt', level, -(2 ** 53) + 1), permit('gt', level, 2 ** 53 - 1)),
		),
	],
	[compare('level', 'in', [1, 2]), join('or', permit('eq', level, 1), permit('eq', level, 2))],
	[compare('level', 'not-in', [1, 2]), join('and', join('and', permit('ne', level, 1), permit('ne', level, 2)), exact)],
	[compare('level', 'between', [1, 2]), join('and', permit('ge', level, 1), permit('le', level, 2), exact)],
	[compare('level', 'is-null', true), permit('eq', level, null)],
	[not(compare('key', 'equals', 'd1')), permit('ne', 'key', 'd1')],
	[compare('key', 'in', []), permit('eq', 'key', null)],
	[not(compare('key', 'in', [])), permit('ne', 'key', null)],
];

test("the format of Permit's plugin has null checks, and no lists", (t) => {
	for (const [residual, expected] of permitted) t.deepEqual(runToEnd(writePermitFilter(residual)), expected as never);
	for (const residual of [compare('name', 'less-than', 'a'), compare('at', 'less-than', '2030-01-01T00:00:00.000Z')]) {
		t.throws(() => runToEnd(writePermitFilter(residual)), { instanceOf: FilterRefusal, message: /order of strings/ });
	}
});
