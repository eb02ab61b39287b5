// @rest

import test from 'ava';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/** Hostile check input to conditions, within the limits of JSON, causes no 5xx and no unjustified allow. */

let stack: Stack;

/** User sets, each with an action of the same name. */
const sets = {
	high: { 'user.level': { 'greater-than': 5 } },
	low: { not: { 'user.level': { 'greater-than': 5 } } },
	unknown: { 'user.level': { 'is-null': true } },
	titled: { 'user.title': { equals: 'x' } },
	built: { 'user.constructor': { equals: 'x' } },
	same: { 'user.data': { equals: { ref: 'context.data' } } },
};
type Action = keyof typeof sets;

test.before('create a user set and a rule for each action', async () => {
	stack = await startStack();
	const { environment: http } = stack;
	const actions = Object.fromEntries(Object.keys(sets).map((action) => [action, {}]));
	await http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions });
	const attributes = { level: 'number', title: 'string', constructor: 'string', data: 'json' };
	for (const [key, type] of Object.entries(attributes)) await http.post(`${schema}/users/attributes`, { key, type });
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	const documents = { key: 'documents', name: 'Documents', type: 'resourceset', resource_id: 'document' };
	await http.post(`${schema}/condition_sets`, documents);
	for (const [key, conditions] of Object.entries(sets)) {
		await http.post(`${schema}/condition_sets`, { key, name: key, type: 'userset', conditions });
		const rule = { user_set: key, permission: `document:${key}`, resource_set: 'documents' };
		await stack.reached((await http.post(`${facts}/set_rules`, rule)).revision);
	}
});

test.after.always(async () => stack.stop());

/** Returns a raw check; `attributes` and `more` are JSON text. */
const check = (action: Action, attributes: string, more = '') =>
	`{"user":{"key":"ann","attributes":${attributes}},"action":"${action}",` +
	`"resource":{"type":"document","tenant":"acme"}${more}}`;

const ask = (raw: string, path = '/allowed') => stack.pdp.send<object>('POST', path, undefined, { raw });

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const long = (letters: number) => JSON.stringify('y'.repeat(letters));
const many = (attributes: number) =>
	`{"level":9,${Array.from({ length: attributes }, (_, index) => `"a${index}":${index}`).join(',')}}`;

const decided: readonly (readonly [title: string, raw: string, allow: boolean])[] = [
	['a number', check('high', '{"level":6}'), true],
	['a number that is too small', check('high', '{"level":5}'), false],
	['a number as a string', check('high', '{"level":"6"}'), false],
	['a number as a string, under `not`', check('low', '{"level":"1"}'), false],
	['the greatest whole number that is exact', check('high', '{"level":9007199254740991}'), true],
	['a number beyond 64 bits', check('high', '{"level":123456789012345678901234567890}'), false],
	['1e21', check('high', '{"level":1e21}'), false],
	['1e308', check('high', '{"level":1e308}'), false],
	['a whole number that is rounded, under `not`', check('low', '{"level":-9007199254740993}'), false],
	[
		'two whole numbers that are rounded to the same number',
		check('same', '{"data":9007199254740993}', ',"context":{"data":9007199254740992}'),
		false,
	],
	[
		'rounded whole numbers inside nested values',
		check('same', '{"data":[{"a":9007199254740993}]}', ',"context":{"data":[{"a":9007199254740992}]}'),
		false,
	],
	['a rounded whole number that is not compared', check('high', '{"level":6,"data":9007199254740993}'), true],
	['a number just above', check('high', '{"level":5.000000000000001}'), true],
	['-0', check('high', '{"level":-0}'), false],
	['-0 is 0', check('same', '{"data":-0}', ',"context":{"data":0}'), true],
	['a number so small that it is rounded to 0', check('high', '{"level":1e-400}'), false],
	[
		'an escaped backslash before `ud800`, which is not a surrogate',
		check('titled', String.raw`{"title":"x","a":"\\ud800"}`),
		true,
	],
	['a field inside `__proto__`', check('high', '{"__proto__":{"level":9}}'), false],
	['a field inside `constructor.prototype`', check('high', '{"constructor":{"prototype":{"level":9}}}'), false],
	['no `constructor` field, although objects inherit one', check('built', '{}'), false],
	['a `constructor` field in the request', check('built', '{"constructor":"x"}'), true],
	['96 levels', check('same', `{"data":${nested(96)}}`, `,"context":{"data":${nested(96)}}`), true],
	['96 levels and 95', check('same', `{"data":${nested(96)}}`, `,"context":{"data":${nested(95)}}`), false],
	['a long string', check('high', `{"level":9,"title":${long(65_000)}}`), true],
	['a long string that is compared', check('titled', `{"title":${long(65_000)}}`), false],
	['500 attributes', check('high', many(499)), true],
];

for (const [title, raw, allow] of decided) {
	test(`decided: ${title}`, async (t) => {
		const { status, body } = await ask(raw);
		t.is(status, 200);
		t.deepEqual(body, { allow, result: allow });
		t.deepEqual((await ask(`[${raw}]`, '/allowed/bulk')).body, { allow: [{ allow, result: allow }] });
	});
}

const surrogates: readonly (readonly [title: string, raw: string])[] = [
	['in an attribute', check('titled', String.raw`{"title":"\ud800"}`)],
	['in an attribute name', check('titled', String.raw`{"\ud800":1,"title":"x"}`)],
	['in the context', check('titled', '{"title":"x"}', String.raw`,"context":{"a":"\udc00"}`)],
	['in a key', check('titled', '{"title":"x"}').replace('ann', String.raw`\ud800`)],
	['in the tenant', check('titled', '{"title":"x"}').replace('acme', String.raw`\ud800`)],
	['60,000 times', check('high', `{"level":9,"title":"${'\\ud800'.repeat(60_000)}"}`)],
];

for (const [title, raw] of surrogates) {
	test(`a lone surrogate is rejected: ${title}`, async (t) => {
		t.is((await ask(raw)).status, 422);
		t.is((await ask(`[${raw}]`, '/allowed/bulk')).status, 422);
	});
}

const endless = ['1e400', '-1e400'];
for (const number of endless) {
	for (const action of ['high', 'low', 'unknown'] as const) {
		test(`${number} is rejected with its location, and not treated as null: ${action}`, async (t) => {
			const raw = check(action, `{"level":${number}}`, `,"context":{"a":[1,{"b":${number}}]}`);
			const { status, body } = await ask(raw);
			t.is(status, 422);
			const { detail } = body as { readonly detail: readonly { readonly loc: readonly unknown[] }[] };
			t.deepEqual(
				detail.map(({ loc }) => loc.join('.')),
				['body.user.attributes.level', 'body.context.a.1.b'],
			);
			t.is((await ask(`[${raw}]`, '/allowed/bulk')).status, 422);
		});
	}
}

const refused: readonly (readonly [title: string, raw: string, status: number])[] = [
	['10,000 levels', check('same', `{"data":${nested(10_000)}}`), 400],
	['a million levels', check('same', `{"data":${nested(1_000_000)}}`), 400],
	['more than five megabytes', check('high', `{"level":9,"title":${long(5 * 1024 * 1024)}}`), 413],
];

for (const [title, raw, status] of refused) {
	test(`rejected: ${title}`, async (t) => {
		for (const path of ['/allowed', '/allowed/bulk', '/user-permissions', '/authorized_users']) {
			t.is((await ask(raw, path)).status, status, path);
		}
		t.deepEqual((await ask(check('high', '{"level":6}'))).body, { allow: true, result: true });
	});
}

const excessive: readonly (readonly [title: string, raw: string])[] = [
	['10,000 attributes', check('high', many(10_000))],
	['an object with 10,000 fields', check('same', `{"data":${many(10_000)}}`)],
	['20,000 values', check('high', `{"level":9,"data":[${'1,'.repeat(20_000)}1]}`)],
	['a string of a megabyte', check('high', `{"level":9,"title":${long(1_000_000)}}`)],
];

for (const [title, raw] of excessive) {
	test(`attributes have limits: ${title}`, async (t) => {
		for (const path of ['/allowed', '/allowed/bulk', '/user-permissions']) {
			const { status, body } = await ask(path === '/allowed/bulk' ? `[${raw}]` : raw, path);
			t.is(status, 422, path);
			const { detail } = body as { readonly detail: readonly { readonly msg: string }[] };
			t.regex(detail[0]?.msg ?? '', /^must not (have|contain) more than [0-9]+ (fields|values|characters)/);
		}
	});
}

test('an object with more fields than any body may have is rejected before it is parsed', async (t) => {
	for (const path of ['/allowed', '/user-permissions']) {
		t.is((await ask(check('high', many(50_000)), path)).status, 413, path);
	}
});
