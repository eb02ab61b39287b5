import test from 'ava';
import fc from 'fast-check';
import type { z } from 'zod';
import { ComparedAttributes, maxMembers, maxText, maxValues } from '../../src/wire/attributes.js';
import { Query, UsersQuery } from '../../src/wire/decision/check.js';
import { UserInviteApprove } from '../../src/wire/element/user-invite.js';
import { ResourceInstanceCreate, ResourceInstanceUpdate } from '../../src/wire/facts/resource-instance.js';
import { TenantCreate, TenantUpdate } from '../../src/wire/facts/tenant.js';
import { UserCreate, UserReplace, UserUpdate } from '../../src/wire/facts/user.js';
import { EnvironmentDocument } from '../../src/wire/general/environment-document.js';
import { ConditionEvaluation } from '../../src/wire/schema/condition-preview.js';
import { parsed } from './parsed.js';

/** Limits on stored and sent attributes for conditions (docs/develop/limits.md). */

const range = (length: number) => Array.from({ length }, (_, index) => index);
const object = (members: number) => Object.fromEntries(range(members).map((index) => [`m${index}`, 0]));

const tooManyMembers = `must not have more than ${maxMembers} fields`;
const tooManyValues = `: must not contain more than ${maxValues} values`;
const tooMuchText = `: must not contain more than ${maxText} characters of text`;

const excessive: readonly (readonly [string, object, string])[] = [
	['too many fields', object(maxMembers + 1), `: ${tooManyMembers}`],
	['too many fields in a nested object', { a: [1, { b: object(maxMembers + 1) }] }, `a.1.b: ${tooManyMembers}`],
	['50,000 fields', { a: object(50_000) }, `a: ${tooManyMembers}`],
	['too many values in an array', { a: range(maxValues) }, tooManyValues],
	['too many values in several arrays', { a: range(200).map(() => range(50)) }, tooManyValues],
	['too much text in a string', { a: 'x'.repeat(maxText) }, tooMuchText],
	['too much text in array items', { a: range(100).map(() => 'x'.repeat(700)) }, tooMuchText],
	['too much text in a field name', { ['x'.repeat(maxText + 1)]: 0 }, tooMuchText],
];

const within: readonly object[] = [
	{},
	object(maxMembers),
	{ a: range(maxValues - 2) },
	{ a: 'x'.repeat(maxText - 1) },
	{ a: { b: object(maxMembers) }, c: ['é', null, true, 1.5] },
];

for (const [what, value, problem] of excessive) {
	test(`rejects attributes with ${what}`, (t) => {
		t.deepEqual(parsed(ComparedAttributes, value), { problems: [problem] });
	});
}

test('attributes within the limits are accepted unchanged', (t) => {
	for (const value of within) t.deepEqual(parsed(ComparedAttributes, value), { data: value });
});

test('a whole number that JSON parsers round is rejected with its location', (t) => {
	const told =
		'must be from -9007199254740991 to 9007199254740991, because JSON parsers round larger numbers: use a string';
	for (const number of [9007199254740992, -9007199254740992, 1e21, -1e300]) {
		t.deepEqual(parsed(ComparedAttributes, { a: { b: [1, number] } }), { problems: [`a.b.1: ${told}`] });
	}
	const many = parsed(ComparedAttributes, { a: range(1000).map(() => 2 ** 53) });
	t.is('problems' in many && many.problems.length, 20, 'only the first problems are reported');
	for (const number of [9007199254740991, -9007199254740991, 0.1, 1e-300]) {
		t.deepEqual(parsed(ComparedAttributes, { number }), { data: { number } });
	}
});

const facts = (half: object) => ({ format: 'regolith-environment', version: 1, facts: half });
const tenant = { name: 'A' };

/** Every place with stored attributes or attributes sent for comparison. Stored attributes reject inexact numbers. */
const places: readonly (readonly [string, z.ZodType, (attributes: object) => unknown, stored: boolean])[] = [
	['a new user', UserCreate, (attributes) => ({ key: 'a', attributes }), true],
	['a replaced user', UserReplace, (attributes) => ({ attributes }), true],
	['a changed user', UserUpdate, (attributes) => ({ attributes }), true],
	['a new tenant', TenantCreate, (attributes) => ({ key: 'a', ...tenant, attributes }), true],
	['a changed tenant', TenantUpdate, (attributes) => ({ attributes }), true],
	[
		'a new instance',
		ResourceInstanceCreate,
		(attributes) => ({ key: 'a', resource: 'b', tenant: 'c', attributes }),
		true,
	],
	['a changed instance', ResourceInstanceUpdate, (attributes) => ({ attributes }), true],
	['an invite', UserInviteApprove, (attributes) => ({ email: 'a@example.com', key: 'a', attributes }), true],
	['a user in a document', EnvironmentDocument, (attributes) => facts({ users: { a: { attributes } } }), true],
	[
		'a tenant in a document',
		EnvironmentDocument,
		(attributes) => facts({ tenants: { a: { ...tenant, attributes } } }),
		true,
	],
	[
		'an instance in a document',
		EnvironmentDocument,
		(attributes) => facts({ resource_instances: { 'a:b': { tenant: 'c', attributes } } }),
		true,
	],
	['an evaluation', ConditionEvaluation, (attributes) => ({ condition_set: 'a', user: { attributes } }), true],
	['the context of an evaluation', ConditionEvaluation, (context) => ({ condition_set: 'a', context }), true],
	[
		'the user of a check',
		Query,
		(attributes) => ({ user: { key: 'a', attributes }, action: 'b', resource: 'c' }),
		false,
	],
	[
		'the resource of a check',
		Query,
		(attributes) => ({ user: 'a', action: 'b', resource: { type: 'c', attributes } }),
		false,
	],
	['the context of a check', Query, (context) => ({ user: 'a', action: 'b', resource: 'c', context }), false],
	['the context of a listing', UsersQuery, (context) => ({ action: 'b', resource: 'c', context }), false],
];

for (const [title, schema, bodyWith, stored] of places) {
	test(`${title}: attributes have limits`, (t) => {
		t.true('data' in parsed(schema, bodyWith({ a: range(100) })));
		const many = parsed(schema, bodyWith({ a: object(50_000) }));
		t.true('problems' in many && many.problems.length === 1 && many.problems[0]?.endsWith(`.a: ${tooManyMembers}`));
		const long = parsed(schema, bodyWith({ a: 'x'.repeat(maxText + 1) }));
		t.true('problems' in long && long.problems[0]?.endsWith(tooMuchText));
		t.is('problems' in parsed(schema, bodyWith({ a: 2 ** 53 })), stored);
	});
}

test('every accepted value is within the limits', (t) => {
	const size = (value: unknown): readonly [number, number] => {
		if (typeof value === 'string') return [1, value.length];
		if (typeof value !== 'object' || value === null) return [1, 0];
		const inside = Object.entries(value).map(([name, member]) => {
			const [values, text] = size(member);
			return [values, text + (Array.isArray(value) ? 0 : name.length)] as const;
		});
		return inside.reduce<readonly [number, number]>((sum, one) => [sum[0] + one[0], sum[1] + one[1]], [1, 0]);
	};
	const lengths = fc.constantFrom(0, 1, 10, 499, 500, 501, 9_000, 9_998, 9_999, 65_530, 65_536);
	const value = fc.oneof(
		lengths.map((length) => 'x'.repeat(length)),
		lengths.filter((length) => length < 10_000).map(range),
		lengths.filter((length) => length < 1_000).map(object),
	);
	fc.assert(
		fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), value), (attributes) => {
			const [values, text] = size(attributes);
			const members = Object.values(attributes).every(
				(one) => typeof one !== 'object' || Array.isArray(one) || Object.keys(one).length <= maxMembers,
			);
			const right = values <= maxValues && text <= maxText && members;
			t.is('data' in parsed(ComparedAttributes, attributes), right);
		}),
		{ numRuns: 50 },
	);
});
