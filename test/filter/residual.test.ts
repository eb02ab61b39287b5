// @both

/** Residuals of conditions: they select the rows that the condition selects, and simplifying changes nothing. */
import test from 'ava';
import fc from 'fast-check';
import type { AttributePath } from '../../compiler/condition/condition.js';
import { lookUp } from '../../compiler/condition/value.js';
import type { Json } from '../../compiler/model.js';
import { runToEnd } from '../../compiler/steps.js';
import { evaluateResidual } from '../../src/filter/evaluate-residual.js';
import { type Column, constantOf, FilterRefusal, type Residual, type Row } from '../../src/filter/residual.js';
import { type Resolved, residualOfCondition } from '../../src/filter/residual-of-condition.js';
import { simplifyResidual } from '../../src/filter/simplify-residual.js';
import { selects } from '../property/condition-oracle.js';
import { anyConditions, anySubject } from '../property/conditions.js';
import { parsedCondition, patternMatches, type Subject } from '../support/conditions.js';
import { draws, leastDrawn } from '../support/tier.js';

const objects = ['user', 'resource', 'tenant', 'context'] as const;

/** Attribute that becomes the row's key if its value is a string. */
const keyed: AttributePath = { object: 'resource', path: ['a'] };

/** Returns a row with the whole subject as its attributes, and with `resource.a` as its key. */
function rowOf(subject: Subject): Row {
	const key = lookUp(subject.resource, keyed.path);
	return { key: typeof key === 'string' ? key : '', tenant: 'ta', attributes: { ...subject } };
}

/** Resolves attributes of the `unknown` objects as columns. */
function resolveWith(subject: Subject, unknown: ReadonlySet<string>) {
	return ({ object, path }: AttributePath): Resolved => {
		const value = lookUp(subject[object], path);
		if (!unknown.has(object)) return { value };
		const isKey = object === keyed.object && path.length === 1 && path[0] === keyed.path[0];
		return {
			column: isKey && typeof value === 'string' ? { kind: 'key' } : { kind: 'attribute', path: [object, ...path] },
		};
	};
}

/** True if a residual is as simple as `simplifyResidual` promises. */
function isSimple(residual: Residual, within: 'all' | 'any' | 'not' | undefined): boolean {
	switch (residual.kind) {
		case 'not':
			return within !== 'not' && isSimple(residual.part, 'not');
		case 'all':
		case 'any': {
			const { kind, parts } = residual;
			if (parts.length === 0) return within === undefined;
			const columns = parts.flatMap((part) =>
				part.kind === 'comparison' &&
				(part.operator === 'equals' || part.operator === 'in') &&
				'value' in part.operand &&
				part.operand.value !== null &&
				part.reversed === undefined
					? [JSON.stringify(part.column)]
					: [],
			);
			const texts = parts.map((part) => JSON.stringify(part));
			return (
				parts.length > 1 &&
				kind !== within &&
				new Set(columns).size === columns.length &&
				new Set(texts).size === texts.length &&
				parts.every((part) => isSimple(part, kind))
			);
		}
		default:
			return true;
	}
}

function residualUnlessRefused(read: () => Residual): Residual | undefined {
	try {
		return read();
	} catch (error) {
		if (error instanceof FilterRefusal) return undefined;
		throw error;
	}
}

test('the residual of a condition selects the same rows as the condition', (t) => {
	let [selected, decided, refused] = [0, 0, 0];
	fc.assert(
		fc.property(
			anyConditions,
			fc.array(anySubject, { minLength: 1, maxLength: 5 }),
			fc.subarray([...objects]),
			(conditions, subjects, unknown) => {
				const [first] = subjects;
				if (first === undefined) return;
				for (const other of subjects) {
					const known = objects.filter((object) => !unknown.includes(object));
					const subject = { ...other, ...Object.fromEntries(known.map((object) => [object, first[object]])) };
					const resolve = resolveWith(subject, new Set(unknown));
					const reading = { name: 'set', resolve, matches: patternMatches };
					const residual = residualUnlessRefused(() => residualOfCondition(parsedCondition(conditions), reading));
					if (residual === undefined) {
						t.regex(JSON.stringify(conditions), /fk_resource_type/);
						refused += 1;
						continue;
					}
					const simple = runToEnd(simplifyResidual(residual));
					const right = selects(conditions, subject);
					selected += Number(right);
					decided += Number(constantOf(simple) !== undefined);
					const row = rowOf(subject);
					for (const one of [residual, simple]) {
						t.is(evaluateResidual(one, row, patternMatches), right, JSON.stringify([conditions, subject, one]));
					}
					t.true(isSimple(simple, undefined), JSON.stringify(simple));
				}
			},
		),
		{ numRuns: draws(6_000) },
	);
	t.true(refused >= leastDrawn(40), `${refused} conditions refused`);
	t.true(selected >= leastDrawn(600), `${selected} rows selected`);
	t.true(decided >= leastDrawn(600), `${decided} conditions decided`);
});

const value = fc.constantFrom<Json>('a', 'b', 'c', 1, true, [1], { x: 1, y: [2] }, { y: [2], x: 1 });
const column = fc.constantFrom<Column>(
	{ kind: 'key' },
	{ kind: 'tenant' },
	{ kind: 'attribute', path: ['a'] },
	{ kind: 'attribute', path: ['b', 'c'], type: 'string' },
);
const comparison = fc.record({
	kind: fc.constantFrom('comparison' as const, 'comparison' as const, 'mistyped' as const),
	column,
	name: fc.constant('set'),
});
const equality = fc
	.tuple(comparison, fc.oneof(value, fc.array(value, { maxLength: 4 })))
	.map(([one, operand]): Residual => {
		const isList = Array.isArray(operand) && operand.every((item) => typeof item !== 'number');
		return { ...one, operator: isList ? 'in' : 'equals', operand: { value: operand } };
	});
const { residual } = fc.letrec<{ residual: Residual }>((tie) => ({
	residual: fc.oneof(
		{ depthSize: 'small', withCrossShrink: true },
		{ weight: 4, arbitrary: equality },
		fc
			.tuple(fc.constantFrom('all' as const, 'any' as const), fc.array(tie('residual'), { maxLength: 4 }))
			.map(([kind, parts]): Residual => ({ kind, parts })),
		tie('residual').map((part): Residual => ({ kind: 'not', part })),
	),
}));
const row = fc.record({
	key: fc.constantFrom('a', 'b', 'd'),
	tenant: fc.constantFrom('a', 'c'),
	attributes: fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(value, fc.constant(null), fc.record({ c: value }))),
}) as fc.Arbitrary<Row>;

test('a simplified residual selects the same rows and cannot be simplified further', (t) => {
	fc.assert(
		fc.property(residual, fc.array(row, { maxLength: 5 }), (before, rows) => {
			const after = runToEnd(simplifyResidual(before));
			t.true(isSimple(after, undefined), JSON.stringify([before, after]));
			t.deepEqual(runToEnd(simplifyResidual(after)), after);
			for (const one of rows) {
				const right = evaluateResidual(before, one, patternMatches);
				t.is(evaluateResidual(after, one, patternMatches), right, JSON.stringify([before, after, one]));
			}
		}),
		{ numRuns: draws(9_000) },
	);
});

test('many equality tests on a column are merged into one list without comparing all pairs', (t) => {
	let reads = 0;
	const items = Array.from({ length: 400 }, (_, index) => ({
		get number() {
			reads += 1;
			return index % 300;
		},
	}));
	const one = { kind: 'comparison', column: { kind: 'key' }, name: 'set' } as const;
	const parts = items.map((value) => ({ ...one, operator: 'equals' as const, operand: { value } }));
	const joined = runToEnd(simplifyResidual({ kind: 'any', parts }));
	t.deepEqual(joined, { ...one, operator: 'in', operand: { value: items.slice(0, 300) } });
	t.true(reads < 20 * items.length, `${reads} reads`);
});

test('duplicate list items are removed, whatever their type', (t) => {
	const operand = { value: ['1', 1, true, 'true', { a: 1, b: 2 }, { b: 2, a: 1 }, '{"a":1,"b":2}', '1'] };
	const one = { kind: 'comparison', column: { kind: 'key' }, operator: 'in', operand, name: 'set' } as const;
	const items = ['1', 1, true, 'true', { a: 1, b: 2 }, '{"a":1,"b":2}'];
	t.deepEqual(runToEnd(simplifyResidual(one)), { ...one, operand: { value: items } });
});
