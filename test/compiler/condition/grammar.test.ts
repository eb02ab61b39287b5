import test from 'ava';
import { attributeText, isBuiltIn } from '../../../compiler/condition/attribute.js';
import { operators } from '../../../compiler/condition/operator.js';
import { attributesIn, parseConditions } from '../../../compiler/condition/parse/grammar.js';
import { rolesNamedIn } from '../../../compiler/condition/resource-roles.js';
import type { Json } from '../../../compiler/model.js';
import { parsedCondition } from '../../support/conditions.js';

/** Returns the problems as `place: message`. */
function conditionProblems(conditions: unknown, type: 'userset' | 'resourceset' = 'userset'): readonly string[] {
	const measurePattern = (pattern: string) => ({
		steps: pattern.length * 50,
		problem: pattern.includes('(') ? 'is no regular expression' : null,
	});
	const parsed = parseConditions(conditions, { type, bound: false, measurePattern });
	return 'problems' in parsed ? parsed.problems.map(({ at, msg }) => `${at.join(' ')}: ${msg}`) : [];
}

/** User set conditions on roles on the resource, for a set with a resource, each with all its problems. */
const wrongRoles: readonly (readonly [conditions: unknown, ...problems: readonly string[]])[] = [
	[{ 'user.resource_roles': { equals: ['viewer'] } }, `user.resource_roles equals: ${rolesBy('equals')}`],
	[
		{ 'user.resource_roles': { array_subset: ['viewer'] } },
		`user.resource_roles array_subset: ${rolesBy('array_subset')}`,
	],
	[{ 'subject.resource_roles': { 'is-null': true } }, `subject.resource_roles is-null: ${rolesBy('is-null')}`],
	[
		{ not: { 'user.resource_roles': { array_contains: { ref: 'user.team' } } } },
		'not user.resource_roles array_contains: must be the key of a role on the resource, not {"ref": "user.team"}',
	],
	[
		{ 'user.resource_roles': { array_superset: ['viewer', 7] } },
		'user.resource_roles array_superset 1: must be the key of a role on the resource, not 7',
	],
	[
		{ 'user.resource_roles': { array_intersect: [] } },
		'user.resource_roles array_intersect: the operand of `array_intersect` must be an array of role keys, not []',
	],
	[
		{ 'user.resource_roles.first': { array_contains: 'viewer' } },
		'user.resource_roles.first: `user.resource_roles` is a list of role keys, which has no fields',
	],
	[
		{ 'user.teams': { equals: { ref: 'user.resource_roles' } } },
		'user.teams equals ref: `user.resource_roles` cannot be a `ref`: compare the attribute `user.resource_roles` with ' +
			'role keys',
	],
];

function rolesBy(operator: string): string {
	return (
		'`user.resource_roles` is compared with role keys by `array_contains`, `array_superset` or `array_intersect`, not by ' +
		`\`${operator}\``
	);
}

test('`user.resource_roles` accepts only role keys, and only in user sets with a resource', (t) => {
	const problemsOf = (conditions: unknown, type: 'userset' | 'resourceset', bound: boolean) => {
		const parsed = parseConditions(conditions, { type, bound });
		return 'problems' in parsed ? parsed.problems.map(({ at, msg }) => `${at.join(' ')}: ${msg}`) : [];
	};
	for (const [conditions, ...problems] of wrongRoles) t.deepEqual(problemsOf(conditions, 'userset', true), problems);
	const named = { 'user.resource_roles': { array_contains: 'viewer' } };
	t.deepEqual(problemsOf(named, 'userset', true), []);
	t.regex(
		problemsOf(named, 'userset', false).join(),
		/requires a user set with a resource \(`resource_id`\).*`user.roles`/,
	);
	t.regex(problemsOf(named, 'resourceset', true).join(), /`user.resource_roles` is available only in user sets/);
	const parsed = parseConditions(
		{ allOf: [{ not: { 'user.resource_roles': { array_superset: ['a', 'b'] } } }, { not: { not: named } }] },
		{ type: 'userset', bound: true },
	);
	t.deepEqual('condition' in parsed ? rolesNamedIn(parsed.condition).map(({ role, negated }) => [role, negated]) : [], [
		['a', true],
		['b', true],
		['viewer', false],
	]);
});

const operatorNames = operators.map(({ name }) => name).join(', ');
const absence = 'to test for absence, use {"is-null": true}';
const unknown = (written: string, meant: string) =>
	`unknown operator "${written}": did you mean \`${meant}\`? Available: ${operatorNames}`;

const inexact =
	'whole numbers beyond ±9007199254740991 are not exact: JSON parsers round them; write the number as a string';
const onInstances = (role: string, written: string) =>
	`\`user.roles\` contains keys of tenant roles, such as "${role}", and no roles on instances, so it never contains ` +
	`"${written}"; roles on the resource are in \`user.resource_roles\`, for a user set with \`resource_id\``;

const notRanges = [[1], [1, 2, 3], [1, 'b'], ['a', null], 'a'];

const durationKind =
	'an ISO 8601 duration in weeks, days, hours, minutes and seconds, such as "P30D" or "PT8H", of up to 36500 days';
const notDurations = ['', 'P', 'PT', 'P1DT', 'P1M', 'P1Y', 'P-1D', 'P1.5D', 'p1d', 'P1W1D', 'T1H', 'P36501D', 30, true];
const onNow =
	'`now` is the time of the check in milliseconds since 1970, so compare it with numbers; to compare stored times, ' +
	'use `within-last` or `older-than`';

/** User set conditions, each with all its problems. */
const wrong: readonly (readonly [conditions: unknown, ...problems: readonly string[]])[] = [
	[null, ': a condition must be an object, not null'],
	[[], ': a condition must be an object, not []'],
	['user.age', ': a condition must be an object, not "user.age"'],
	[
		{ 'user.age': { 'greater-than': 1 }, 'user.team': { equals: null } },
		': must have one field, not 2: to require all, use {"allOf": [{"user.age": …}, {"user.team": …}]}',
		`user.team equals: \`equals\` cannot compare with null: ${absence}`,
	],
	[
		{ 'user.age': { 'greater-than': 1, 'less-than': 5 } },
		'user.age: must have one field, not 2: to require all, use {"allOf": [{"greater-than": …}, {"less-than": …}]}',
	],
	[{ 'user.a': { equals: 9007199254740992 } }, `user.a equals: ${inexact}`],
	[{ 'user.a': { 'less-than': -1e300 } }, `user.a less-than: ${inexact}`],
	[{ 'user.a': { between: [0, 9007199254740994] } }, `user.a between 1: ${inexact}`],
	[{ 'user.a': { in: [1, { b: [-9007199254740992] }] } }, `user.a in 1 b 0: ${inexact}`],
	[{ 'user.a': { any_match: { match: { b: { equals: 1e21 } } } } }, `user.a any_match match b equals: ${inexact}`],
	[
		{ 'user.a': { in: [1, Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`m${index}`, 1]))] } },
		'user.a in 1: an object in a condition must not have more than 32 fields',
	],
	[
		{ 'user.a': { any_match: { match: { b: { matches: 'x'.repeat(251) } } } } },
		`user.a any_match match b matches: the regular expression "${'x'.repeat(60)}…" is longer than 250 characters`,
	],
	[
		{ 'user.roles': { array_contains: 'document:viewer' } },
		`user.roles array_contains: ${onInstances('viewer', 'document:viewer')}`,
	],
	[
		{ not: { 'subject.roles': { array_intersect: ['admin', 'document:budget:viewer'] } } },
		`not subject.roles array_intersect 1: ${onInstances('viewer', 'document:budget:viewer')}`,
	],
	[{ 'user.roles': { equals: ['a:b'] } }, `user.roles equals 0: ${onInstances('b', 'a:b')}`],
	[{ 'user.roles': { in: [['a:b']] } }, `user.roles in 0 0: ${onInstances('b', 'a:b')}`],
	[{ anyOf: [{}] }, 'anyOf 0: must not be empty: only `conditions` as a whole can be {}'],
	[{ 'user.age': {} }, 'user.age: must not be empty: only `conditions` as a whole can be {}'],
	[{ all_of: [] }, 'all_of: unknown logical operator `all_of`: did you mean `allOf`?'],
	[{ any_of: [] }, 'any_of: unknown logical operator `any_of`: did you mean `anyOf`?'],
	[{ AND: [] }, 'AND: unknown logical operator `AND`: did you mean `and`?'],
	[{ $or: [] }, '$or: unknown logical operator `$or`: did you mean `or`?'],
	[{ noneOf: [] }, 'noneOf: unknown logical operator `noneOf`: did you mean `not` with `anyOf`?'],
	[{ NOT: { 'user.a': { equals: 1 } } }, 'NOT: unknown logical operator `NOT`: did you mean `not`?'],
	[{ 'user.age': { all_of: [] } }, `user.age all_of: ${unknown('all_of', 'allOf')}`],
	[{ allOf: { 'user.a': { equals: 1 } } }, 'allOf: `allOf` takes an array of conditions, not {"user.a": {…}}'],
	[{ or: 1 }, 'or: `or` takes an array of conditions, not 1'],
	[
		{ not: [{ 'user.a': { equals: 1 } }] },
		'not: `not` takes one condition object, not [{…}]; to negate several, use {"not": {"anyOf": […]}}',
	],
	[{ 'user.a': { not: true } }, 'user.a not: `not` takes one condition object, not true'],
	[{ 'user.age': 18 }, 'user.age: a comparison must be an object such as {"equals": 18}'],
	[{ 'user.age': [1, 2] }, 'user.age: a comparison must be an object such as {"in": [1, 2]}'],
	[{ 'user.age': { greaterThan: 18 } }, `user.age greaterThan: ${unknown('greaterThan', 'greater-than')}`],
	[{ 'user.age': { '>=': 18 } }, `user.age >=: ${unknown('>=', 'greater-than-equals')}`],
	[{ 'user.age': { regex: 'a' } }, `user.age regex: ${unknown('regex', 'matches')}`],
	[{ 'user.age': { constructor: 1 } }, `user.age constructor: ${unknown('constructor', 'contains')}`],
	[
		{ 'user.age': { 'user.team': { equals: 1 } } },
		'user.age user.team: the attribute "user.team" cannot be nested in a different attribute: use `allOf` above both',
	],
	[{ equals: 1 }, 'equals: the operator `equals` must be nested in an attribute, as in {"user.key": {"equals": …}}'],
	[
		{ 'resource.owner': { equals: 'ann' } },
		'resource.owner: a user set compares attributes of the user and of the context: "resource.owner" can only be an operand, as in {"user.key": {"equals": {"ref": "resource.owner"}}}',
	],
	[
		{ age: { equals: 1 } },
		'age: must be `allOf`, `anyOf`, `and`, `or`, `not` or an attribute such as "user.key", not "age"',
	],
	[
		{ 'environment.time': { equals: 1 } },
		'environment.time: must be `allOf`, `anyOf`, `and`, `or`, `not` or an attribute such as "user.key", not "environment.time"; the data sent with a check is `context`',
	],
	[
		{ 'user.': { equals: 1 } },
		'user.: must be `allOf`, `anyOf`, `and`, `or`, `not` or an attribute such as "user.key", not "user."',
	],
	[
		{ 'user.team': { in: ['a', null, { ref: 'user.key' }] } },
		`user.team in 1: \`in\` cannot compare with null: ${absence}`,
		'user.team in 2: a `ref` must be the whole operand',
	],
	[{ 'user.team': { in: 'a' } }, 'user.team in: the operand of `in` must be an array, not "a"'],
	[
		{ 'user.age': { 'greater-than': true } },
		'user.age greater-than: the operand of `greater-than` must be a number or a string, not true',
	],
	...notRanges.map(
		(range) =>
			[
				{ 'user.age': { between: range } },
				`user.age between: the operand of \`between\` must be an array of two numbers or two strings, not ${JSON.stringify(range).replaceAll(',', ', ')}`,
			] as const,
	),
	[
		{ 'user.age': { between: [5, 1] } },
		'user.age between: the first bound of `between` must not be greater than the second: [5, 1]',
	],
	[
		{ 'user.mail': { contains: 1 } },
		'user.mail contains: the operand of `contains` must be a string of up to 250 characters, not 1',
	],
	[{ 'user.mail': { matches: 'a(' } }, 'user.mail matches: the regular expression "a(" is no regular expression'],
	[
		{ 'user.mail': { matches: 'a'.repeat(1001) } },
		`user.mail matches: the regular expression "${'a'.repeat(60)}…" is longer than 1000 characters`,
	],
	[{ 'user.mail': { matches: { ref: 'user.key' } } }, 'user.mail matches: `matches` takes a value, not a `ref`'],
	[{ 'user.mail': { 'is-null': 1 } }, 'user.mail is-null: the operand of `is-null` must be true or false, not 1'],
	[
		{ 'user.a': { equals: { ref: 'owner' } } },
		'user.a equals ref: `ref` must name an attribute of user, resource, tenant or context, such as "user.key", or `now`, not "owner"',
	],
	[
		{ 'user.a': { equals: { ref: 1 } } },
		'user.a equals ref: `ref` must name an attribute of user, resource, tenant or context, such as "user.key", or `now`, not 1',
	],
	[{ 'user.a': { equals: { ref: 'user.key', or: 1 } } }, 'user.a equals: `ref` must be the only field of its object'],
	...notDurations.map(
		(value) =>
			[
				{ 'user.at': { 'within-last': value } },
				`user.at within-last: the operand of \`within-last\` must be ${durationKind}, not ${JSON.stringify(value)}`,
			] as const,
	),
	[{ 'user.at': { 'older-than': { ref: 'user.age' } } }, 'user.at older-than: `older-than` takes a value, not a `ref`'],
	[{ 'user.at': { olderThan: 'P1D' } }, `user.at olderThan: ${unknown('olderThan', 'older-than')}`],
	[{ now: { 'less-than': '2030-01-01T00:00:00Z' } }, `now less-than: ${onNow}`],
	[{ now: { between: ['a', 'b'] } }, `now between: ${onNow}`],
	[{ now: { 'within-last': 'P1D' } }, `now within-last: ${onNow}`],
	[{ now: { any_match: { match: {} } } }, `now any_match: ${onNow}`],
	[{ now: { contains: { ref: 'user.key' } } }, `now contains: ${onNow}`],
	[
		{ 'now.hour': { equals: 9 } },
		'now.hour: must be `allOf`, `anyOf`, `and`, `or`, `not` or an attribute such as "user.key", not "now.hour"',
	],
	[{ 'user.a': { equals: 'a\ud800' } }, 'user.a equals: must not contain lone surrogates'],
	[{ 'user.a\udc00': { equals: 1 } }, 'user.a\udc00: must not contain lone surrogates'],
	[
		{ 'user.orders': { any_match: { match: {}, fk_resource_type: 7 } } },
		'user.orders any_match fk_resource_type: `fk_resource_type` must be the key of a resource, not 7',
	],
	[
		{ 'user.orders': { any_match: { fk_resource_type: 'order' } } },
		'user.orders any_match: the operand of `any_match` must be {"match": {…}}, a condition on fields, not {"fk_resource_type": "order"}',
	],
	[
		{ 'user.o': { object_match: { match: { a: { object_match: { match: {}, fk_resource_type: 'order' } } } } } },
		'user.o object_match match a object_match fk_resource_type: inside `match`, `fk_resource_type` is not supported',
	],
	[
		{ 'user.o': { object_match: { match: { a: { equals: { ref: 'user.key' } } }, fk_resource_type: 'order' } } },
		'user.o object_match match a equals: inside `match` an operand must be a value, not a `ref`',
	],
	[
		{ 'user.orders': { all_match: { level: { equals: 1 } } } },
		'user.orders all_match: the operand of `all_match` must be {"match": {…}}, a condition on fields, not {"level": {…}}',
	],
	[
		{ 'user.o': { object_match: { match: { level: { equals: { ref: 'user.key' } } } } } },
		'user.o object_match match level equals: inside `match` an operand must be a value, not a `ref`',
	],
	[
		{ 'user.o': { object_match: { match: { all_of: [] } } } },
		'user.o object_match match all_of: unknown logical operator `all_of`: did you mean `allOf`?',
	],
	[
		{ 'user.o': { object_match: { match: { 'a..b': { equals: 1 } } } } },
		'user.o object_match match a..b: "a..b" contains an empty name',
	],
	[
		{ anyOf: [{ 'user.a': { equal: 1 } }, { not: { allOf: [{ 'user.b': 5 }, 7] } }] },
		`anyOf 0 user.a equal: ${unknown('equal', 'equals')}`,
		'anyOf 1 not allOf 0 user.b: a comparison must be an object such as {"equals": 5}',
		'anyOf 1 not allOf 1: a condition must be an object, not 7',
	],
];

for (const [index, [conditions, ...problems]] of wrong.entries()) {
	test(`${index}: ${JSON.stringify(conditions).slice(0, 80)} is rejected with its location`, (t) => {
		t.deepEqual(conditionProblems(conditions), problems);
	});
}

const right: readonly Json[] = [
	{},
	{ allOf: [] },
	{ anyOf: [] },
	{ 'user.age': { 'greater-than': 18 } },
	{ 'user.a': { matches: 'x'.repeat(1000) } },
	{ 'user.a': { equals: Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`m${index}`, 1])) } },
	{ 'user.a': { between: [-9007199254740991, 9007199254740991] } },
	{ 'user.roles': { array_contains: 'viewer' } },
	...['PT0S', 'P1D', 'P52W', 'PT8H30M', 'P1DT12H', 'P36500D', 'PT90S'].map((length) => ({
		'user.at': { 'older-than': length },
	})),
	{ now: { 'greater-than': 1_790_000_000_000 } },
	{ now: { between: { ref: 'user.hours' } } },
	{ 'user.until': { 'greater-than': { ref: 'now' } } },
	{ 'user.orders': { any_match: { match: { total: { 'less-than': 5 } }, fk_resource_type: 'order' } } },
	{ 'user.orders': { any_match: { match: { at: { 'within-last': 'P1D' } } } } },
	{ 'user.roles': { array_contains: { ref: 'resource.owner:role' } } },
	{ 'subject.email': { contains: '@acme' } },
	{ 'user.roles': { array_contains: 'admin' } },
	{ and: [{ 'user.a': { or: [{ equals: 1 }, { not: { in: [1] } }] } }, { not: { anyOf: [] } }] },
	{ 'user.a': { equals: { ref: 'context.location' } } },
	{ 'user.a.b.c': { equals: { literal: null } } },
	{ 'user.orders': { any_match: { match: { allOf: [{ 'user.x': { equals: 1 } }, { not: { y: { in: [] } } }] } } } },
];

for (const [index, conditions] of right.entries()) {
	test(`${index}: ${JSON.stringify(conditions)} is accepted`, (t) => {
		t.deepEqual(conditionProblems(conditions), []);
	});
}

test('a resource set compares attributes of the resource and of the context', (t) => {
	t.deepEqual(conditionProblems({ 'resource.owner': { equals: { ref: 'user.key' } } }, 'resourceset'), []);
	t.deepEqual(conditionProblems({ 'context.device': { equals: { ref: 'resource.device' } } }, 'resourceset'), []);
	t.deepEqual(conditionProblems({ 'user.key': { equals: 1 } }, 'resourceset'), [
		'user.key: a resource set compares attributes of the resource and of the context: "user.key" can only be an operand, as in {"resource.key": {"equals": {"ref": "user.key"}}}',
	]);
});

test('logical operators above and below an attribute parse to the same tree', (t) => {
	const [type, aliased] = ['userset', 'subject.mail'] as const;
	const comparison = { kind: 'comparison', operator: 'contains', operand: { value: 'a' } } as const;
	const attribute = { object: 'user', path: ['mail'] } as const;
	t.deepEqual(parseConditions({ [aliased]: { or: [{ string_contains: 'a' }] } }, { type, bound: false }), {
		condition: {
			kind: 'any',
			conditions: [{ ...comparison, attribute, at: [aliased, 'or', 0, 'string_contains'] }],
		},
		attributes: [{ attribute, at: [aliased], built_in: isBuiltIn(attribute) }],
		related: [],
	});
});

test('the attributes in a condition are reported with their locations, even if other parts are invalid', (t) => {
	const conditions = {
		allOf: [
			{ 'subject.age': { not: { 'less-than': { ref: 'resource.type' } } } },
			{ 'user.email': { equals: { ref: 'context.mail' } } },
			{ 'user.orders': { any_match: { match: { level: { equals: 1 } } } } },
			{ 'user.team': { or: [{ equals: 1 }, { equals: 2 }] } },
		],
	};
	const expected = [
		'user age at allOf 0 subject.age: false',
		'resource type at allOf 0 subject.age not less-than ref: true',
		'user email at allOf 1 user.email: true',
		'context mail at allOf 1 user.email equals ref: false',
		'user orders at allOf 2 user.orders: false',
		'user team at allOf 3 user.team: false',
	];
	t.deepEqual(comparedAttributes(conditions), expected);
	t.deepEqual(attributesIn(parsedCondition(conditions)).map(attributeText), [
		'user.age',
		'resource.type',
		'user.email',
		'context.mail',
		'user.orders',
		'user.team',
		'user.team',
	]);
	const wrong = [{ all_of: [] }, { 'user.level': { gt: 1 } }, { 'resource.owner': { equals: 1 } }];
	t.deepEqual(comparedAttributes({ allOf: [...conditions.allOf, ...wrong] }), [
		...expected,
		'user level at allOf 5 user.level: false',
	]);
});

function comparedAttributes(conditions: Json): readonly string[] {
	return parseConditions(conditions, { type: 'userset', bound: false }).attributes.map(
		({ attribute: { object, path }, at, built_in }) => `${object} ${path} at ${at.join(' ')}: ${built_in}`,
	);
}

/** Wraps `inmost` in `depth` levels. */
function nested(depth: number, wrap: (inner: Json) => Json, inmost: Json): Json {
	let value = inmost;
	for (let level = 0; level < depth; level += 1) value = wrap(value);
	return value;
}

const one = { 'user.a': { equals: 1 } };

test('conditions beyond the nesting limit are rejected, however deep they are', (t) => {
	const not = (depth: number) => nested(depth, (inner) => ({ not: inner }), one);
	t.deepEqual(conditionProblems(not(100)), []);
	for (const depth of [101, 1000, 100_000]) {
		t.regex(conditionProblems(not(depth)).join(), /^not( not){100}: must not be nested deeper than 100$/);
	}
	const list = (depth: number): Json => ({ 'user.a': { equals: nested(depth, (inner) => [inner], 1) } });
	t.deepEqual(conditionProblems(list(100)), []);
	t.regex(conditionProblems(list(100_000)).join(), /^user.a equals( 0){101}: must not be nested deeper than 100$/);
	const match = nested(101, (inner) => ({ a: { any_match: { match: inner } } }), { b: { equals: 1 } });
	t.regex(conditionProblems({ 'user.a': { any_match: { match } } }).join(), /must not be nested deeper than 100$/);
	const strange = nested(100_000, (inner) => ({ x: inner }), 1);
	t.regex(conditionProblems(strange).join(), /not "x"/);
});

test('oversized conditions are rejected with a single problem', (t) => {
	const many = (count: number) => Array.from({ length: count }, () => one);
	t.deepEqual(conditionProblems({ anyOf: many(4_999) }), []);
	const told = [': must not have more than 10000 conditions and values'];
	t.deepEqual(conditionProblems({ anyOf: many(5_000) }), told);
	t.deepEqual(conditionProblems({ 'user.a': { in: Array.from({ length: 100_000 }, String) } }), told);
});

test('limits the total steps of a set’s regular expressions', (t) => {
	const matching = (lengths: readonly number[]) => ({
		anyOf: lengths.map((length) => ({ 'user.a': { matches: 'x'.repeat(length) } })),
	});
	const told = [': the regular expressions must not take more than 50000 steps in total'];
	t.deepEqual(conditionProblems(matching([500, 500])), []);
	t.deepEqual(conditionProblems(matching([500, 501])), told);
	t.deepEqual(conditionProblems(matching(Array.from({ length: 450 }, () => 40))), told);

	let measured = 0;
	const measurePattern = () => {
		measured += 1;
		return { steps: 25_000, problem: 'is too large' };
	};
	const parsed = parseConditions(matching([1, 2, 3, 4, 5]), { type: 'userset', bound: false, measurePattern });
	t.is('problems' in parsed && parsed.problems.length, 3);
	t.is(measured, 3, 'measures no expression beyond the limit');
});

test('fields called __proto__ are ordinary fields', (t) => {
	const hostile = JSON.parse('{"__proto__": {"equals": 1}}');
	t.regex(conditionProblems(hostile).join(), /^__proto__: must be/);
	const condition = parsedCondition(JSON.parse('{"user.a": {"equals": {"__proto__": {"x": 1}}}}'));
	t.is(JSON.stringify(condition.kind === 'comparison' && condition.operand), '{"value":{"__proto__":{"x":1}}}');
});
