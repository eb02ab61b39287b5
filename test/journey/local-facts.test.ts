// @rest

import test from 'ava';
import { Permit } from 'permitio';
import { readFactsWait } from '../../src/pdp/endpoint/facts-wait.js';
import { client } from '../support/client.js';
import { onEachStack } from '../support/each-store.js';

/** Facts written through a decision point, which the client's next check must include. */

onEachStack('a check after a write through the decision point includes the write', async (t, stack) => {
	const { pdp } = stack;
	await stack.environment.post('/v2/schema/default/dev/resources', {
		key: 'document',
		name: 'Document',
		actions: { read: {} },
	});
	await stack.environment.post('/v2/schema/default/dev/roles', {
		key: 'reader',
		name: 'Reader',
		permissions: ['document:read'],
	});
	const user = await pdp.post('/facts/users', { key: 'ann@example.com' });
	t.is(user.status, 200);
	t.is(user.body['key'], 'ann@example.com');
	t.true((user.revision ?? 0) > 0);
	const ann = { user: 'ann@example.com', action: 'read', resource: { type: 'document', tenant: 'default' } };
	const role = { role: 'reader', tenant: 'default' };
	for (const [method, path, body, expected] of [
		['POST', '/facts/users/ann%40example.com/roles', role, true],
		['DELETE', '/facts/users/ann%40example.com/roles', role, false],
		['POST', '/v2/facts/any/thing/role_assignments', { user: 'ann@example.com', ...role }, true],
		['DELETE', '/facts/role_assignments', { user: 'ann@example.com', ...role }, false],
		['POST', '/v2/facts/default/dev/role_assignments/bulk', [{ user: 'ann@example.com', ...role }], true],
		['DELETE', '/facts//users/ann%40example.com', undefined, false],
	] as const) {
		const answer = await pdp.send(method, path, body);
		t.true(answer.status < 300, `${method} ${path}: ${answer.status}`);
		t.is((await pdp.post('/allowed', ann)).body['allow'], expected, `${method} ${path}`);
	}
});

onEachStack('a decision point returns the management API’s responses unchanged', async (t, { pdp, environment }) => {
	for (const [method, path, body] of [
		['GET', '/users?per_page=1', undefined],
		['GET', '/users/nobody', undefined],
		['GET', '/nothing', undefined],
		['POST', '/users', { key: 7 }],
		['POST', '/users?%ff', { key: 'x' }],
	] as const) {
		const [through, direct] = await Promise.all([
			pdp.send(method, `/facts${path}`, body),
			environment.send(method, `/v2/facts/default/dev${path}`, body),
		]);
		t.is(through.status, direct.status, path);
		const known = (answer: typeof direct) => ({ ...answer.body, id: undefined, message: undefined });
		t.deepEqual(known(through), known(direct), path);
	}
	const malformed = await pdp.send('POST', '/facts/users', undefined, { raw: '{' });
	t.is(malformed.status, 400);
	t.is((await pdp.get('/facts/../../v2/api-key/scope')).status, 404);
	t.is((await pdp.get('/facts/%2e%2E/projects')).status, 404);
});

onEachStack('writing facts requires the decision point’s key', async (t, { decisionPoint, keys }) => {
	const { url } = decisionPoint.listening;
	t.is((await client(url).post('/facts/users', { key: 'x' })).status, 401);
	t.is((await client(url, keys.project).post('/facts/users', { key: 'x' })).status, 403);
});

onEachStack('an invalid wait is refused before anything is written', async (t, { pdp }) => {
	for (const [name, value] of [
		['x-wait-timeout', 'abc'],
		['x-wait-timeout', 'nan'],
		['x-timeout-policy', 'later'],
	] as const) {
		const answer = await pdp.post('/facts/users', { key: 'unwritten' }, { headers: { [name]: value } });
		t.is(answer.status, 400, value);
		t.true(String(answer.body['detail']).includes(`'${value}'`), String(answer.body['detail']));
	}
	t.is((await pdp.get('/facts/users/unwritten')).status, 404);
});

onEachStack('the SDK writes facts through the decision point', async (t, { keys, api, decisionPoint, environment }) => {
	await environment.post('/v2/schema/default/dev/resources', { key: 'page', name: 'Page', actions: { open: {} } });
	await environment.post('/v2/schema/default/dev/roles', { key: 'guest', name: 'Guest', permissions: ['page:open'] });
	const sdk = new Permit({
		token: keys.environment,
		apiUrl: api.listening.url,
		pdp: decisionPoint.listening.url,
		proxyFactsViaPdp: true,
		log: { level: 'silent' },
	});
	await sdk.api.users.sync({ key: 'ben', email: 'ben@example.com' });
	await sdk.api.users.assignRole({ user: 'ben', role: 'guest', tenant: 'default' });
	t.true(await sdk.check('ben', 'open', { type: 'page', tenant: 'default' }));
	await sdk.api.roleAssignments.waitForSync(null).unassign({ user: 'ben', role: 'guest', tenant: 'default' });
	t.false(await sdk.check('ben', 'open', { type: 'page', tenant: 'default' }));
});

const fallback = { milliseconds: 10_000, policy: 'ignore' } as const;

const waits: readonly (readonly [string | undefined, number | null])[] = [
	[undefined, 10_000],
	['', null],
	['-1', null],
	['0', 0],
	['0.5', 500],
	['3', 3_000],
	['1e3', 1_000_000],
	['1e99', 2 ** 31 - 1],
];

for (const [header, milliseconds] of waits) {
	test(`X-Wait-Timeout: ${JSON.stringify(header)}`, (t) => {
		t.is(readFactsWait({ 'x-wait-timeout': header }, fallback).milliseconds, milliseconds);
	});
}

test('X-Timeout-Policy ignores case', (t) => {
	t.is(readFactsWait({ 'x-timeout-policy': 'FAIL' }, fallback).policy, 'fail');
	t.is(readFactsWait({ 'x-timeout-policy': 'Ignore' }, { ...fallback, policy: 'fail' }).policy, 'ignore');
	t.is(readFactsWait({}, { ...fallback, policy: 'fail' }).policy, 'fail');
});
