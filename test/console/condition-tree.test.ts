import test from 'ava';
import fc from 'fast-check';
import { acceptedKinds } from '../../compiler/condition/accepted-kinds.js';
import { operators } from '../../compiler/condition/operator.js';
import { parseConditions } from '../../compiler/condition/parse/grammar.js';
import {
	attributeType,
	conditionAttributes,
	relatedAttributes,
} from '../../src/console/model/condition/condition-attributes.js';
import {
	type AttributeType,
	conditionOperators,
	firstOperand,
	operandForm,
	operandForms,
	operandText,
	operatorsFor,
	readOperandText,
	withAttribute,
	withOperator,
} from '../../src/console/model/condition/condition-operator.js';
import {
	isSameSet,
	possibleParents,
	readConditionSetValue,
} from '../../src/console/model/condition/condition-set-value.js';
import {
	addCondition,
	type ConditionComparison,
	type ConditionNode,
	type ConditionPath,
	conditionAt,
	isLogical,
	problemPath,
	problemsByPath,
	readConditions,
	replaceCondition,
	writeConditions,
} from '../../src/console/model/condition/condition-tree.js';
import { readMatchOperand, writeMatchOperand } from '../../src/console/model/condition/match-operand.js';
import type { Json } from '../../src/console/model/json.js';

/** Condition builder: rows, their JSON, and the offered operators. */

const json = fc.jsonValue({ maxDepth: 3 }).map((value): Json => JSON.parse(JSON.stringify(value)));
const hostile = fc.constantFrom('__proto__', 'constructor', 'user.age', 'and.or', 'user.\u{202e}x', '', 'ref', '0');
const name = fc.oneof(hostile, fc.string()).filter((text) => !isLogical(text));
const ref = name.map((text) => ({ ref: text }));
const comparison = fc.record({
	kind: fc.constant('comparison' as const),
	attribute: name,
	operator: fc.oneof(fc.constantFrom(...conditionOperators.map((one) => one.name)), name),
	operand: fc.oneof(json, ref),
});
const scalar = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null));
const raw = fc.record({ kind: fc.constant('raw' as const), json: fc.oneof(scalar, fc.array(json)) });
const { node } = fc.letrec<{ node: ConditionNode }>((tie) => ({
	node: fc.oneof(
		{ depthSize: 'small', withCrossShrink: true },
		comparison,
		raw,
		fc.record({
			kind: fc.constant('group' as const),
			word: fc.constantFrom('allOf', 'and', 'anyOf', 'or'),
			parts: fc.array(tie('node'), { maxLength: 4 }),
		}),
		fc.record({ kind: fc.constant('not' as const), part: tie('node') }),
	),
}));
const tree = fc.option(node);

test('rows become JSON, and the JSON becomes the same rows', (t) => {
	fc.assert(
		fc.property(tree, (given) => {
			const written: Json = JSON.parse(JSON.stringify(writeConditions(given)));
			t.deepEqual(readConditions(written), given);
		}),
		{ numRuns: 1000 },
	);
});

const logic = fc.constantFrom('allOf', 'and', 'anyOf', 'or', 'not', 'user.age', 'equals', 'match');
const { wild } = fc.letrec<{ wild: Json }>((tie) => ({
	wild: fc.oneof(
		{ depthSize: 'small', withCrossShrink: true },
		json,
		fc.dictionary(logic, tie('wild'), { maxKeys: 2, noNullPrototype: true }),
		fc.array(tie('wild'), { maxLength: 3 }),
	),
}));

test('any JSON is kept, even if rows cannot express it', (t) => {
	fc.assert(
		fc.property(wild, (given) => {
			t.deepEqual(writeConditions(readConditions(given)), given);
		}),
		{ numRuns: 1000 },
	);
	let deep: Json = { 'user.age': { equals: 1 } };
	for (let depth = 0; depth < 2000; depth++) deep = { not: deep };
	t.deepEqual(writeConditions(readConditions(deep)), deep);
});

function* paths(given: ConditionNode, at: ConditionPath = []): Generator<ConditionPath> {
	yield at;
	const parts = given.kind === 'group' ? given.parts : given.kind === 'not' ? [given.part] : [];
	for (const [index, part] of parts.entries()) yield* paths(part, [...at, index]);
}

const marker: ConditionComparison = {
	kind: 'comparison',
	attribute: 'user.marked',
	operator: 'is-null',
	operand: true,
};

test('a part is replaced, removed or added only at its own path', (t) => {
	fc.assert(
		fc.property(node, fc.nat(), (given, chance) => {
			const all = [...paths(given)];
			const path = all[chance % all.length] ?? [];
			const replaced = replaceCondition(given, path, marker);
			t.deepEqual(conditionAt(replaced, path), marker);
			t.deepEqual(replaceCondition(replaced, path, conditionAt(given, path) ?? null), given);
			const longer = addCondition(given, path, marker);
			const added = conditionAt(longer, path);
			if (added?.kind !== 'group') return t.fail();
			t.deepEqual(added.parts.at(-1), marker);
			const old = conditionAt(given, path);
			const shorter = replaceCondition(longer, [...path, added.parts.length - 1], null);
			if (old?.kind === 'group') t.deepEqual(shorter, given);
			t.deepEqual(replaceCondition(given, [...path, 99], null), given, 'an unknown path');
		}),
		{ numRuns: 500 },
	);
	t.is(replaceCondition({ kind: 'not', part: marker }, [0], null), null);
	t.deepEqual(addCondition(null, [], marker), marker);
});

test('a problem reported by the server is shown at its part', (t) => {
	const conditions: Json = {
		allOf: [
			{ 'user.age': { gt: 18 } },
			{ anyOf: [{ 'user.team': { equals: null } }, { not: { 'user.x': { not: { equals: null } } } }] },
			{ all_of: [] },
			{ 'user.address': { object_match: { match: { city: { is: 1 } } } } },
		],
	};
	const rows = readConditions(conditions);
	const parsed = parseConditions(conditions, { type: 'userset', bound: false });
	if (!('problems' in parsed)) return t.fail();
	const problems = parsed.problems.map(({ at, msg }) => ({ loc: ['body', 'conditions', ...at], msg }));
	const found = problemsByPath(rows, problems);
	t.deepEqual([...found.keys()], ['0', '1.0', '1.1.0', '2', '3']);
	t.regex(found.get('0')?.[0] ?? '', /greater-than/);
	t.is(problemPath(rows, ['body', 'changes', 0, 'value', 'conditions', 'allOf', 1]), '1');
	t.is(problemPath(rows, ['body', 'conditions']), '');
	t.is(problemPath(rows, ['body', 'key']), null);
	t.is(
		problemPath(rows, ['body', 'conditions', 'anyOf', 0]),
		'',
		'a problem without a known part belongs to the whole condition',
	);
	t.is(problemPath(null, ['body', 'conditions', 'allOf', 0]), '');
});

const samples: Readonly<Record<Exclude<AttributeType, 'roles'>, readonly Json[]>> = {
	bool: [true],
	number: [17],
	string: ['a', '10.0.0.1', '2030-01-01T00:00:00.000Z'],
	time: ['2030-01-01T00:00:00.000Z'],
	array: [['a']],
	json: [true, 17, 'a', '10.0.0.1', '2030-01-01T00:00:00.000Z', ['a'], { a: 1 }],
	object: [{ a: 1 }],
	object_array: [[{ a: 1 }]],
};
const types = Object.keys(samples) as (keyof typeof samples)[];

test('the operators are the compiler’s operators, and fit the attribute types', (t) => {
	t.deepEqual(
		conditionOperators.map((one) => one.name),
		operators.map((one) => one.name),
	);
	for (const { name: operator, attribute, literal, match } of operators) {
		const accepted = types.filter((type) => samples[type].some((sample) => acceptedKinds[attribute].accepts(sample)));
		const offered = conditionOperators.find((one) => one.name === operator);
		t.deepEqual([...(offered?.types ?? [])].sort(), accepted.sort(), operator);
		t.is(offered?.literal, literal === true, operator);
		t.is(offered?.operand === 'match', match !== undefined, operator);
	}
	t.deepEqual(operatorsFor(null), conditionOperators);
});

test('each operand field accepts the operator’s values, and returns them unchanged', (t) => {
	for (const { name: operator, types: fitting } of conditionOperators) {
		for (const type of [null, ...fitting]) {
			const forms = operandForms(operator, type);
			t.true(forms.length > 0);
			for (const form of forms) {
				const operand = firstOperand(form, operator);
				const shown = operandForm(operand);
				t.true(shown === form || (form === 'numbers' && shown === 'texts'), `${operator}: ${form} shows as ${shown}`);
			}
		}
	}
	fc.assert(
		fc.property(fc.oneof(json, ref, fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }))), (given) => {
			const operand: Json = JSON.parse(JSON.stringify(given));
			t.deepEqual(readOperandText(operandForm(operand), operandText(operand)), operand);
		}),
		{ numRuns: 1000 },
	);
	const nothing: readonly (readonly [Parameters<typeof readOperandText>[0], string])[] = [
		['number', '1.'],
		['number', '"1"'],
		['number', '1e999'],
		['numbers', '1\nx'],
		['boolean', 'yes'],
		['json', '{'],
	];
	for (const [form, text] of nothing) t.is(readOperandText(form, text), undefined, `${form}: ${text}`);
	t.deepEqual(readOperandText('texts', 'a\n\nb\n'), ['a', 'b']);
});

test('changing the attribute or operator keeps the operand if it is still valid', (t) => {
	const age: ConditionComparison = { kind: 'comparison', attribute: 'user.age', operator: 'equals', operand: 18 };
	t.deepEqual(withOperator(age, 'greater-than', 'number'), { ...age, operator: 'greater-than' });
	t.deepEqual(withOperator(age, 'in', 'number'), { ...age, operator: 'in', operand: [] });
	t.deepEqual(withOperator(age, 'is-null', 'number'), { ...age, operator: 'is-null', operand: true });
	t.deepEqual(withOperator(age, 'any_match', null), { ...age, operator: 'any_match', operand: { match: {} } });
	const byKey = { ...age, operator: 'object_match', operand: { match: {}, fk_resource_type: '' } };
	t.deepEqual(withOperator(age, 'object_match', 'string'), byKey, 'a text is the key of an instance');
	t.deepEqual(withAttribute(byKey, 'user.name', 'string'), { ...byKey, attribute: 'user.name' });
	t.deepEqual(withAttribute(age, 'user.name', 'string'), { ...age, attribute: 'user.name', operand: '' });
	t.deepEqual(withAttribute(age, 'user.what', null), { ...age, attribute: 'user.what' });
	t.is(withAttribute({ ...age, operator: 'less-than' }, 'user.vip', 'bool').operator, 'equals');
	t.deepEqual(withOperator({ ...age, operand: 'a' }, 'within-last', 'string'), {
		...age,
		operator: 'within-last',
		operand: 'P30D',
	});
	const other = { ...age, operator: 'string_contains', operand: 'a' };
	t.deepEqual(withAttribute(other, 'user.name', 'string'), { ...other, attribute: 'user.name' });
	const aged = { ...age, operand: { ref: 'resource.age' } };
	t.deepEqual(withOperator(aged, 'less-than', 'number'), { ...aged, operator: 'less-than' });
});

test('the suggested attributes are the schema’s attributes and the predefined attributes', (t) => {
	const schema = {
		user_attributes: { age: { type: 'number' }, odd: { type: 'none' } },
		resources: {
			document: { attributes: { private: { type: 'bool' }, size: { type: 'number' } } },
			folder: { attributes: { size: { type: 'string' } } },
			bare: {},
		},
	};
	const all = conditionAttributes(schema, { type: 'userset', resource: null });
	t.is(attributeType(all, 'user.age'), 'number');
	t.is(attributeType(all, 'subject.age'), 'number');
	t.is(attributeType(all, 'user.odd'), null);
	t.is(attributeType(all, 'resource.private'), 'bool');
	t.is(attributeType(all, 'resource.size'), null, 'a number here, a string there');
	t.is(attributeType(all, 'user.roles'), 'array');
	t.is(attributeType(all, 'context.ip'), null);
	const own = conditionAttributes(schema, { type: 'resourceset', resource: 'document' });
	t.is(attributeType(own, 'resource.size'), 'number');
	t.is(own.filter(({ name: one }) => one === 'resource.size').length, 1);
	t.true(all.every(({ name: one }) => /^(user|resource|tenant)\.|^now$/.test(one)));
	const byRoles = conditionAttributes(schema, { type: 'userset', resource: 'document' });
	t.is(attributeType(byRoles, 'user.resource_roles'), 'roles');
	t.is(attributeType(byRoles, 'resource.size'), 'number');
	t.true([...all, ...own].every(({ name: one }) => one !== 'user.resource_roles'));
});

test('a set is read and compared with all its fields, and parents that would form a cycle are not offered', (t) => {
	const set = readConditionSetValue({ name: 'A', type: 'resourceset', resource: 'memo' });
	t.deepEqual(set, {
		name: 'A',
		description: null,
		type: 'resourceset',
		conditions: {},
		resource: 'memo',
		parent: null,
	});
	t.true(isSameSet(set, { ...set }));
	t.false(isSameSet(set, { ...set, conditions: { 'resource.a': { equals: 1 } } }));
	const user = readConditionSetValue({ name: 'U', type: 'userset' });
	const sets = {
		a: user,
		b: { ...user, parent: 'a' },
		c: { ...user, parent: 'b' },
		d: user,
		x: { ...user, parent: 'y' },
		y: { ...user, parent: 'x' },
		memo: set,
	};
	t.deepEqual(possibleParents(sets, 'b', user), ['a', 'd', 'x', 'y'], 'neither the set itself nor its children');
	t.deepEqual(possibleParents(sets, null, user), ['a', 'b', 'c', 'd', 'x', 'y']);
	t.deepEqual(possibleParents(sets, null, set), ['memo']);
	t.deepEqual(possibleParents(sets, null, { ...set, resource: 'other' }), []);
});

test('an operand with `match` has a form, unless the form would drop part of it', (t) => {
	const readable: readonly Json[] = [
		{ match: {} },
		{ match: { 'a.b': { equals: 1 } }, fk_resource_type: 'account' },
		{ match: 5, fk_resource_type: '' },
	];
	for (const operand of readable) {
		const read = readMatchOperand(operand);
		t.deepEqual(read && writeMatchOperand(read), operand);
	}
	const others: readonly Json[] = [
		{},
		null,
		[],
		'match',
		{ fk_resource_type: 'account' },
		{ match: {}, fk_resource_type: null },
		{ match: {}, fk_resource_type: 5 },
		{ match: {}, more: 1 },
	];
	for (const operand of others) t.is(readMatchOperand(operand), null, JSON.stringify(operand));
	const attributes = { seats: { type: 'number' }, plan: { type: 'string' } };
	const related = relatedAttributes({ resources: { account: { attributes }, __user: {} } });
	t.deepEqual([...related.keys()], ['account']);
	t.deepEqual(
		related.get('account')?.map(({ name, type }) => [name, type]),
		[
			['seats', 'number'],
			['plan', 'string'],
		],
	);
});
