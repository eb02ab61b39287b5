import test from 'ava';
import { maxDifferences, recordDifference } from '../../src/console/model/change/record-difference.js';

/** Logic of the Changes screen, without a page: differences. */

type Given = Readonly<Record<string, unknown>> | null;

const differences: readonly (readonly [what: string, before: Given, after: Given, said: readonly unknown[]])[] = [
	['nothing', { name: 'Ann', n: null }, { name: 'Ann' }, []],
	['one member', { name: 'Ann' }, { name: 'Anna' }, [{ name: 'name', removed: ['Ann'], added: ['Anna'] }]],
	[
		'a member that came',
		{ email: null },
		{ email: 'a@b.example' },
		[{ name: 'email', removed: [], added: ['a@b.example'] }],
	],
	['a member that went', { level: 0 }, { level: null }, [{ name: 'level', removed: ['0'], added: [] }]],
	['false is something', { a: false }, { a: null }, [{ name: 'a', removed: ['false'], added: [] }]],
	[
		'items of a list',
		{ permissions: ['a:read', 'a:write', 'a:write'] },
		{ permissions: ['a:write', 'b:read'] },
		[{ name: 'permissions', removed: ['a:read', 'a:write'], added: ['b:read'] }],
	],
	['the order of a list', { of: [1, 2] }, { of: [2, 1] }, [{ name: 'of', removed: [], added: [], reordered: true }]],
	[
		'members of objects',
		{ attributes: { region: 'eu', deep: { n: 1 }, same: [1] } },
		{ attributes: { region: 'us', deep: { n: 1, m: true }, same: [1] } },
		[
			{ name: 'attributes.region', removed: ['eu'], added: ['us'] },
			{ name: 'attributes.deep.m', removed: [], added: ['true'] },
		],
	],
	['a list that became a text', { a: ['x'] }, { a: 'x' }, [{ name: 'a', removed: ['["x"]'], added: ['x'] }]],
	[
		'what was created, without what says nothing',
		null,
		{ id: '1', key: 'ann', user_id: '2', user: 'ann', tenant_id: '3', created_at: 't', private: false, attributes: {} },
		[
			{ name: 'user', removed: [], added: ['ann'] },
			{ name: 'private', removed: [], added: ['false'] },
		],
	],
	['what was deleted', { key: 'ann', name: 'Ann' }, null, [{ name: 'name', removed: ['Ann'], added: [] }]],
	[
		'ids that no key stands beside',
		{ role_id: '1', user_id: '1', user: 'a' },
		{ role_id: '2', user_id: '2', user: 'b' },
		[
			{ name: 'role_id', removed: ['1'], added: ['2'] },
			{ name: 'user', removed: ['a'], added: ['b'] },
		],
	],
	['a member called constructor', {}, { constructor: 'x' }, [{ name: 'constructor', removed: [], added: ['x'] }]],
];

for (const [what, before, after, said] of differences) {
	test(`a difference: ${what}`, (t) => t.deepEqual(recordDifference(before, after), said));
}

test('a difference is short, however long the compared values are', (t) => {
	const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`m${index}`, index]));
	t.is(recordDifference(null, many).length, maxDifferences);
	const [list] = recordDifference(null, { list: Array.from({ length: 30 }, (_, index) => index) });
	t.deepEqual(list?.added.slice(-2), ['19', 'and 10 more']);
	const [long] = recordDifference(null, { text: 'x'.repeat(5000) });
	t.true((long?.added[0]?.length ?? 0) < 300);
});
