import test from 'ava';
import { maxDifferences, recordDifference } from '../../src/console/model/change/record-difference.js';

/** Differences between two states of an object in the change log. */

type Given = Readonly<Record<string, unknown>> | null;

const differences: readonly (readonly [what: string, before: Given, after: Given, said: readonly unknown[]])[] = [
	['nothing if the states are equal', { name: 'Ann', n: null }, { name: 'Ann' }, []],
	['a changed field', { name: 'Ann' }, { name: 'Anna' }, [{ name: 'name', removed: ['Ann'], added: ['Anna'] }]],
	[
		'an added field',
		{ email: null },
		{ email: 'a@b.example' },
		[{ name: 'email', removed: [], added: ['a@b.example'] }],
	],
	['a removed field', { level: 0 }, { level: null }, [{ name: 'level', removed: ['0'], added: [] }]],
	['a removed `false`', { a: false }, { a: null }, [{ name: 'a', removed: ['false'], added: [] }]],
	[
		'added and removed list items',
		{ permissions: ['a:read', 'a:write', 'a:write'] },
		{ permissions: ['a:write', 'b:read'] },
		[{ name: 'permissions', removed: ['a:read', 'a:write'], added: ['b:read'] }],
	],
	['a reordered list', { of: [1, 2] }, { of: [2, 1] }, [{ name: 'of', removed: [], added: [], reordered: true }]],
	[
		'nested fields',
		{ attributes: { region: 'eu', deep: { n: 1 }, same: [1] } },
		{ attributes: { region: 'us', deep: { n: 1, m: true }, same: [1] } },
		[
			{ name: 'attributes.region', removed: ['eu'], added: ['us'] },
			{ name: 'attributes.deep.m', removed: [], added: ['true'] },
		],
	],
	['a list replaced by a string', { a: ['x'] }, { a: 'x' }, [{ name: 'a', removed: ['["x"]'], added: ['x'] }]],
	[
		'a created object, without its key, ids and times',
		null,
		{ id: '1', key: 'ann', user_id: '2', user: 'ann', tenant_id: '3', created_at: 't', private: false, attributes: {} },
		[
			{ name: 'user', removed: [], added: ['ann'] },
			{ name: 'private', removed: [], added: ['false'] },
		],
	],
	[
		'a deleted object, without its key',
		{ key: 'ann', name: 'Ann' },
		null,
		[{ name: 'name', removed: ['Ann'], added: [] }],
	],
	[
		'an id without a key next to it',
		{ role_id: '1', user_id: '1', user: 'a' },
		{ role_id: '2', user_id: '2', user: 'b' },
		[
			{ name: 'role_id', removed: ['1'], added: ['2'] },
			{ name: 'user', removed: ['a'], added: ['b'] },
		],
	],
	[
		'a field with the name `constructor`',
		{},
		{ constructor: 'x' },
		[{ name: 'constructor', removed: [], added: ['x'] }],
	],
];

for (const [what, before, after, said] of differences) {
	test(`the difference shows ${what}`, (t) => t.deepEqual(recordDifference(before, after), said));
}

test('a difference is truncated if the compared values are long', (t) => {
	const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`m${index}`, index]));
	t.is(recordDifference(null, many).length, maxDifferences);
	const [list] = recordDifference(null, { list: Array.from({ length: 30 }, (_, index) => index) });
	t.deepEqual(list?.added.slice(-2), ['19', 'and 10 more']);
	const [long] = recordDifference(null, { text: 'x'.repeat(5000) });
	t.true((long?.added[0]?.length ?? 0) < 300);
});
