import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { maxBodyBytes } from '../../src/http/server.js';
import { SharedProgress } from '../../src/workers/shared-progress.js';
import { client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { acme, assign, policyWasm, snapshot, step } from './environment.js';
import { key, type Served, type ServeOptions, serve } from './served.js';

/** The decision point over HTTP, following a feed over HTTP. */

async function serveAcme(t: ExecutionContext, options: ServeOptions = {}): Promise<Served> {
	const served = await serve(t, options);
	served.feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: acme }) });
	await served.replica.reached(7);
	return served;
}

test.before('build the policy', async () => {
	await policyWasm(acme);
});

const annWrites = { user: 'ann', action: 'write', resource: { type: 'document', tenant: 'acme' } };
const benWrites = { ...annWrites, user: 'ben' };

test('returns decisions with the revision', async (t) => {
	const { http } = await serveAcme(t);
	const allowed = await http.post('/allowed', annWrites);
	t.is(allowed.status, 200);
	t.deepEqual(allowed.body, { allow: true, result: true });
	t.is(allowed.revision, 7);
	const denied = await http.post('/allowed', benWrites);
	t.is(denied.status, 200);
	t.deepEqual(denied.body, { allow: false, result: false });
	t.is(
		(await http.post('/allowed', { ...benWrites, resource: 'document' })).body['allow'],
		true,
		'in the tenant default',
	);
});

test('decides bulk checks in order, with the same results as single checks', async (t) => {
	const { http } = await serveAcme(t);
	for (const body of [[annWrites, benWrites, annWrites], { checks: [annWrites, benWrites, annWrites] }]) {
		const answer = await http.post<{ allow: { allow: boolean }[] }>('/allowed/bulk', body);
		t.deepEqual(
			answer.body.allow.map(({ allow }) => allow),
			[true, false, true],
		);
		t.is(answer.revision, 7);
	}
	t.deepEqual((await http.post('/allowed/bulk', [])).body, { allow: [] });
});

const acmeTenant = { key: 'acme', attributes: { paid: true, seats: 3 } };
const yes = { allow: true, result: true };

test('checks all tenants where the user holds a role, and ignores the tenant in the request', async (t) => {
	const { http } = await serveAcme(t);
	const annReads = { user: 'ann', action: 'read', resource: { type: 'document', tenant: 'default' } };
	const { body, revision } = await http.post('/allowed/all-tenants', annReads);
	t.is(revision, 7);
	const inAcme = [{ tenant: acmeTenant, ...yes }];
	t.deepEqual(body, { allowed_tenants: inAcme, allowedTenants: inAcme });
	const benReads = (await http.post('/allowed/all-tenants', { ...annReads, user: { key: 'ben' } })).body;
	const everywhere = [...inAcme, { tenant: { key: 'default', attributes: {} }, ...yes }];
	t.deepEqual(benReads, { allowed_tenants: everywhere, allowedTenants: everywhere });
	for (const none of [{ user: 'nobody' }, { user: 'idle' }, { action: 'print' }, { resource: 'nothing' }]) {
		const { status, body } = await http.post('/allowed/all-tenants', { ...annReads, ...none });
		t.is(status, 200);
		t.deepEqual(body, { allowed_tenants: [], allowedTenants: [] }, JSON.stringify(none));
	}
	const explained = await http.post('/allowed/all-tenants', { ...annReads, use_debugger: true });
	t.like(explained.body, {
		allowed_tenants: [{ query: { resource: { tenant: 'acme' } }, debug: { request: { tenant: 'acme' } } }],
	});
});

interface Named {
	readonly title: string;
	readonly authorization?: string;
	readonly body: unknown;
	readonly status: number;
}

const annReads = { user: 'ann', action: 'read', resource: 'document' };
const bodyWith = (Authorization: unknown) => ({ headers: { Authorization }, params: annReads });

const named: readonly Named[] = [
	{ title: 'the body of the Node SDK', body: bodyWith(`Bearer ${key}`), status: 200 },
	{ title: 'the same with the header', authorization: `Bearer ${key}`, body: bodyWith(undefined), status: 200 },
	{ title: 'a wrong key in the body', body: bodyWith(`Bearer ${key}x`), status: 403 },
	{ title: 'a body without a key', body: bodyWith(undefined), status: 401 },
	{ title: 'a key that is not text', body: bodyWith([`Bearer ${key}`]), status: 401 },
	{
		title: 'a wrong header with a correct body',
		authorization: 'Bearer x',
		body: bodyWith(`Bearer ${key}`),
		status: 403,
	},
	{ title: 'a wrong body without a key', body: { params: 3 }, status: 401 },
	{ title: 'a plain check without a key', body: annReads, status: 401 },
	{ title: 'nothing', body: undefined, status: 401 },
	{
		title: 'a large body with the key',
		body: { ...bodyWith(`Bearer ${key}`), x: 'x'.repeat(65_536) },
		status: 413,
	},
	{
		title: 'a large body with the header',
		authorization: `Bearer ${key}`,
		body: { ...annReads, x: 'x'.repeat(65_536) },
		status: 200,
	},
];

test('reads the key for an all-tenants check from a small body', async (t) => {
	const { url } = await serveAcme(t);
	const anyone = client(url);
	for (const { title, authorization, body, status } of named) {
		const headers = authorization === undefined ? {} : { headers: { authorization } };
		const answer = await anyone.post('/allowed/all-tenants', body, headers);
		t.is(answer.status, status, title);
		if (status === 200) t.like(answer.body, { allowedTenants: [{ tenant: acmeTenant, allow: true }] }, title);
	}
	t.is((await anyone.post('//allowed/all-tenants', bodyWith(`Bearer ${key}`))).status, 200);
	t.is((await anyone.post('/allowed', bodyWith(`Bearer ${key}`))).status, 401, 'only on this path');
});

test('lists a user’s permissions', async (t) => {
	const { http } = await serveAcme(t);
	const { body, revision } = await http.post('/user-permissions', { user: 'ben' });
	t.is(revision, 7);
	t.deepEqual(body, {
		'__tenant:acme': {
			tenant: { key: 'acme', attributes: { paid: true, seats: 3 } },
			permissions: ['document:read'],
			roles: ['reader'],
		},
		'__tenant:default': {
			tenant: { key: 'default', attributes: {} },
			permissions: ['document:read', 'document:write'],
			roles: ['editor'],
		},
	});
	const filters: readonly (readonly [object, readonly string[]])[] = [
		[{ tenants: ['acme'] }, ['__tenant:acme']],
		[{ tenants: ['__tenant:default', 'nowhere'] }, ['__tenant:default']],
		[{ tenants: [] }, ['__tenant:acme', '__tenant:default']],
		[{ resources: ['__tenant:acme'] }, ['__tenant:acme']],
		[{ resource_types: ['__tenant'] }, ['__tenant:acme', '__tenant:default']],
		[{ resource_types: ['document'] }, []],
	];
	for (const [filter, expected] of filters) {
		const listed = await http.post('/user-permissions', { user: { key: 'ben' }, ...filter });
		t.deepEqual(Object.keys(listed.body), expected, JSON.stringify(filter));
	}
	for (const user of ['idle', 'nobody', '__proto__', '']) {
		t.deepEqual((await http.post('/user-permissions', { user })).body, {}, user);
	}
});

test('a request over the CPU time limit is rejected, unless it is a check', async (t) => {
	const { http } = await serveAcme(t, { budget: 0 });
	const asked = [
		http.post('/allowed/bulk', [annWrites]),
		http.post('/allowed/all-tenants', annWrites),
		http.post('/user-permissions', { user: 'ben' }),
		http.post('/user-tenants', { user: 'ben' }),
		http.post('/authorized_users', { action: 'read', resource: annWrites.resource }),
		http.get('/local/role_assignments'),
	];
	for (const { status, body } of await Promise.all(asked)) {
		t.is(status, 503);
		t.regex(String(body['detail']), /CPU time/);
	}
	t.is((await http.post('/allowed', annWrites)).status, 200);
});

test('returns reasons on request, and the body overrides the header', async (t) => {
	const { http } = await serveAcme(t);
	const explained = await http.post('/allowed', { ...benWrites, use_debugger: true });
	t.like(explained.body, {
		allow: false,
		query: { user: { key: 'ben' }, action: 'write', resource: { type: 'document', tenant: 'acme' } },
		debug: { request: { tenant: 'acme', action: 'write' }, rbac: { allow: false, code: 'no_permission' } },
	});
	const headers = { 'x-debug': 'true' };
	t.truthy((await http.post('/allowed', annWrites, { headers })).body['debug']);
	t.is((await http.post('/allowed', { ...annWrites, use_debugger: false }, { headers })).body['debug'], undefined);
	const many = await http.post<{ allow: { debug?: object }[] }>('/allowed/bulk', [
		{ ...annWrites, use_debugger: true },
		annWrites,
	]);
	t.deepEqual(
		many.body.allow.map(({ debug }) => debug !== undefined),
		[true, false],
	);
	t.is((await http.post('/allowed', annWrites, { headers: { 'x-debug': 'false' } })).body['debug'], undefined);
});

test('gives reasons for a limited number of checks per request, and rejects larger requests', async (t) => {
	const { http } = await serveAcme(t);
	const most = 1_000;
	const asking = Array.from({ length: most }, () => ({ ...annWrites, use_debugger: true }));
	const answer = await http.post<{ allow: object[] }>('/allowed/bulk', [...asking, annWrites]);
	t.deepEqual([answer.status, answer.body.allow.length], [200, most + 1]);
	const headers = { 'x-debug': 'true' };
	for (const refused of [
		await http.post('/allowed/bulk', [...asking, { ...annWrites, use_debugger: true }]),
		await http.post('/allowed/bulk', [...asking, annWrites], { headers }),
	]) {
		t.is(refused.status, 422);
		t.regex(JSON.stringify(refused.body), /at most 1000 checks .* got 1001/);
	}
	const plain = Array.from({ length: 5 * most }, () => annWrites);
	t.is((await http.post<{ allow: object[] }>('/allowed/bulk', plain)).body.allow.length, plain.length);
});

const authorizations: readonly (readonly [header: string | undefined, status: number])[] = [
	[undefined, 401],
	['', 403],
	['Bearer', 403],
	['Bearer ', 403],
	['Bearer wrong', 403],
	[`Bearer ${key}x`, 403],
	[`Bearer  ${key}`, 403],
	[`Basic ${key}`, 403],
	[key, 403],
	[`Bearer ${key}`, 200],
	[`bearer ${key}`, 200],
	[`BEARER ${key}`, 200],
];

test('requires the environment’s key', async (t) => {
	const { url } = await serveAcme(t);
	const anyone = client(url);
	for (const [authorization, status] of authorizations) {
		for (const path of ['/allowed', '/allowed/bulk', '/user-permissions', '/user-tenants', '/authorized_users']) {
			const body = path === '/allowed/bulk' ? [annWrites] : annWrites;
			const answer = await anyone.post(path, body, authorization === undefined ? {} : { headers: { authorization } });
			t.is(answer.status, status, `${path} with ${authorization}`);
			t.is(answer.revision, 7);
			if (status !== 200) t.is(typeof answer.body['detail'], 'string');
		}
	}
	t.deepEqual((await anyone.post('/allowed', annWrites)).body, { detail: 'Missing Authorization header' });
	for (const path of ['/', '/healthy', '/health', '/healthcheck', '/ready']) t.is((await anyone.get(path)).status, 200);
	const browser = await anyone.get('/', { headers: { accept: 'text/html,*/*;q=0.8' } });
	t.deepEqual([browser.status, browser.headers.get('location')], [302, '/docs']);
	t.is((await anyone.get('/version')).status, 401);
	t.is((await anyone.post('/policy-updater/trigger')).status, 401);
});

interface Wrong {
	readonly title: string;
	readonly path?: string;
	readonly body: unknown;
	readonly locs: readonly (readonly (string | number)[])[];
}

const wrong: readonly Wrong[] = [
	{ title: 'nothing', body: undefined, locs: [['body']] },
	{
		title: 'an empty object',
		body: {},
		locs: [
			['body', 'user'],
			['body', 'action'],
			['body', 'resource'],
		],
	},
	{ title: 'an array', body: [], locs: [['body']] },
	{ title: 'null', body: null, locs: [['body']] },
	{ title: 'a user without a key', body: { ...annWrites, user: {} }, locs: [['body', 'user', 'key']] },
	{ title: 'a user that is null', body: { ...annWrites, user: null }, locs: [['body', 'user']] },
	{ title: 'a key that is a number', body: { ...annWrites, user: { key: 3 } }, locs: [['body', 'user', 'key']] },
	{ title: 'an action that is an object', body: { ...annWrites, action: {} }, locs: [['body', 'action']] },
	{
		title: 'a resource without a type',
		body: { ...annWrites, resource: { key: 'x' } },
		locs: [['body', 'resource', 'type']],
	},
	{
		title: 'a tenant that is a list',
		body: { ...annWrites, resource: { type: 'a', tenant: [] } },
		locs: [['body', 'resource', 'tenant']],
	},
	{
		title: 'attributes that are a list',
		body: { ...annWrites, user: { key: 'a', attributes: [] } },
		locs: [['body', 'user', 'attributes']],
	},
	{ title: 'a context that is text', body: { ...annWrites, context: 'x' }, locs: [['body', 'context']] },
	{
		title: 'an invalid check in a bulk request',
		path: '/allowed/bulk',
		body: [annWrites, { ...annWrites, user: 3 }],
		locs: [['body', 1, 'user']],
	},
	{
		title: 'an invalid check in the field `checks`',
		path: '/allowed/bulk',
		body: { checks: [{ action: 'x', resource: 'y' }] },
		locs: [['body', 'checks', 0, 'user']],
	},
	{ title: 'a bulk request without checks', path: '/allowed/bulk', body: {}, locs: [['body', 'checks']] },
	{ title: 'a bulk request that is text', path: '/allowed/bulk', body: 'x', locs: [['body']] },
	{
		title: 'an all-tenants check with only a user',
		path: '/allowed/all-tenants',
		body: { params: { user: 'ann' } },
		locs: [
			['body', 'params', 'action'],
			['body', 'params', 'resource'],
		],
	},
	{
		title: 'an all-tenants check that is text',
		path: '/allowed/all-tenants',
		body: 'x',
		locs: [['body']],
	},
	{ title: 'a listing without a user', path: '/user-permissions', body: {}, locs: [['body', 'user']] },
	{
		title: 'a filter that is not a list',
		path: '/user-permissions',
		body: { user: 'ann', tenants: 'acme', resources: [1] },
		locs: [
			['body', 'tenants'],
			['body', 'resources', 0],
		],
	},
	{ title: 'a tenant listing without a user', path: '/user-tenants', body: {}, locs: [['body', 'user']] },
	{
		title: 'an authorized users request with an empty body',
		path: '/authorized_users',
		body: {},
		locs: [
			['body', 'action'],
			['body', 'resource'],
		],
	},
];

test('reports the location of a problem in the body', async (t) => {
	const { http } = await serveAcme(t);
	for (const { title, path = '/allowed', body, locs } of wrong) {
		const answer = await http.post<{ detail: { loc: unknown; msg: string; type: string }[] }>(path, body);
		t.is(answer.status, 422, title);
		t.deepEqual(
			answer.body.detail.map(({ loc }) => loc),
			locs,
			title,
		);
		t.true(
			answer.body.detail.every(({ msg, type }) => msg !== '' && type !== ''),
			title,
		);
		t.is(answer.revision, 7, title);
	}
});

test('invalid requests get a status, a message and the revision', async (t) => {
	const { http } = await serveAcme(t);
	const raw = (text: string) => http.post('/allowed', undefined, { raw: text });
	const answers = [
		[await raw('{"user":'), 400],
		[await raw('{"user": "ann"} x'), 400],
		[await raw(`${'['.repeat(500)}${']'.repeat(500)}`), 400],
		[await raw(`"${'x'.repeat(maxBodyBytes)}"`), 413],
		[await http.post('/unknown', {}), 404],
		[await http.get('/unknown'), 404],
		[await http.get('/allowed'), 405],
		[await http.post('/allowed', annWrites, { headers: { 'x-min-revision': 'x' } }), 400],
	] as const;
	for (const [answer, status] of answers) {
		t.is(answer.status, status);
		t.is(typeof answer.body['detail'], 'string');
		t.is(answer.headers.get('content-type'), 'application/json');
		t.is(answer.revision, 7);
	}
	const typeless = await http.post('/allowed', annWrites, { headers: { 'content-type': 'text/plain' } });
	t.is(typeless.status, 200, 'a body is read as JSON for any content type');
});

test('waits for the revision in the request', async (t) => {
	const { http, feed } = await serveAcme(t, { revisionWait: 60_000 });
	const idleReads = { user: 'idle', action: 'read', resource: { type: 'document', tenant: 'acme' } };
	const waiting = http.post('/allowed', idleReads, { headers: { 'x-min-revision': '8' } });
	t.is((await http.post('/allowed', idleReads)).body['allow'], false);
	const patches = assign('idle', 'acme', ['reader']);
	feed.publish({ revision: 8, snapshot: Buffer.from(''), step: await step({ base: 7, revision: 8, patches }) });
	const answer = await waiting;
	t.is(answer.body['allow'], true);
	t.is(answer.revision, 8);
});

test('a token waits for its own lineage, and gets 409 if the lineage has ended', async (t) => {
	const { feed, http, replica } = await serve(t, { revisionWait: 60_000 });
	const [first, second] = ['1'.repeat(16), '2'.repeat(16)];
	const publish = async (lineage: string, revision: number) => {
		const bytes = await snapshot({ lineage, revision, model: acme });
		feed.publish({ lineage, revision, snapshot: bytes });
	};
	await publish(first, 7);
	await replica.reached(7);
	const ask = (token: string) => http.post('/allowed', annWrites, { headers: { 'x-min-revision': token } });
	const known = await ask(`${first}.7`);
	t.is(known.status, 200);
	t.is(known.headers.get('x-revision-token'), `${first}.7`);
	const [next, lost] = [ask(`${second}.4`), ask(`${first}.9`)];
	await publish(second, 5);
	const answer = await next;
	t.deepEqual([answer.status, answer.headers.get('x-revision-token')], [200, `${second}.5`]);
	for (const refused of [await lost, await ask(`${first}.3`)]) {
		t.is(refused.status, 409);
		t.regex(String(refused.body['detail']), /1{16} has ended/);
	}
	const { body } = await http.get('/healthy');
	t.like(body, { lineage: second, revision: 5, left_lineage: { lineage: first, revision: 7 } });
});

test('a token of an unknown lineage gets 503 at any revision', async (t) => {
	const { http } = await serveAcme(t, { revisionWait: 20 });
	const answer = await http.post('/allowed', annWrites, { headers: { 'x-min-revision': `${'3'.repeat(16)}.1` } });
	t.is(answer.status, 503);
	t.regex(String(answer.body['detail']), /revision 1 of lineage 3{16} has not arrived yet/);
});

test('waits for its own revision, even if all workers are reported to have it', async (t) => {
	const ahead = new SharedProgress();
	ahead.update({ lineage: '', revision: 8, policyRevision: 8, deleted: false });
	const { feed, http } = await serveAcme(t, { progress: ahead, revisionWait: 60_000 });
	const waiting = http.post('/allowed', annWrites, { headers: { 'x-min-revision': '8' } });
	t.is((await http.post('/allowed', annWrites)).revision, 7);
	const patches = assign('idle', 'acme', ['reader']);
	feed.publish({ revision: 8, snapshot: Buffer.from(''), step: await step({ base: 7, revision: 8, patches }) });
	t.is((await waiting).revision, 8);
});

test('returns 503 if the revision does not arrive in time', async (t) => {
	const { http } = await serveAcme(t, { revisionWait: 30 });
	const answer = await http.post('/allowed', annWrites, { headers: { 'x-min-revision': '8' } });
	t.is(answer.status, 503);
	t.deepEqual(answer.body, { detail: 'revision 8 has not arrived yet' });
});

test('returns 503 in time, even during frequent garbage collection', async (t) => {
	setFlagsFromString('--expose-gc');
	const collect: () => void = runInNewContext('gc');
	const { http } = await serveAcme(t, { revisionWait: 300 });
	const answered = http.post('/allowed', annWrites, { headers: { 'x-min-revision': '8' } });
	const collecting = setInterval(collect, 20);
	t.teardown(() => clearInterval(collecting));
	t.is((await answered).status, 503);
});

test('is alive immediately, and ready at the first revision', async (t) => {
	const { http, feed, replica, url } = await serve(t);
	const starting = await http.get('/ready');
	t.is(starting.status, 503);
	t.deepEqual(starting.body, {
		status: 'unavailable',
		online: false,
		state: 'starting',
		detail: null,
		lineage: null,
		left_lineage: null,
		update_id: null,
		revision: null,
		policy_revision: null,
		degraded: null,
	});
	t.is((await http.get('/healthy')).status, 200);
	const early = await http.post('/allowed', annWrites);
	t.is(early.status, 503);
	t.regex(String(early.body['detail']), /no revision is loaded/);
	t.is(early.revision, undefined);
	// The control plane has not confirmed the key of this decision point yet.
	const statuses = () =>
		Promise.all(
			[undefined, '', 'Bearer wrong', `Bearer ${key}`].map(async (authorization) => {
				const headers = authorization === undefined ? {} : { headers: { authorization } };
				return (await client(url).post('/allowed', annWrites, headers)).status;
			}),
		);
	t.deepEqual(await statuses(), [401, 503, 503, 503]);
	feed.publish({ revision: 1, snapshot: await snapshot({ revision: 1, model: acme }) });
	await replica.reached(1);
	const ready = await http.get('/ready');
	t.is(ready.status, 200);
	t.deepEqual(ready.body, {
		status: 'ok',
		online: true,
		state: 'ready',
		detail: null,
		lineage: null,
		left_lineage: null,
		update_id: null,
		revision: 1,
		policy_revision: 1,
		degraded: null,
	});
	t.is(ready.revision, 1);
	t.deepEqual((await http.get('/healthy')).body, ready.body);
	t.deepEqual(await statuses(), [401, 403, 403, 200]);
});

test('returns the contract version', async (t) => {
	const { http } = await serve(t);
	t.deepEqual((await http.get('/version')).body, { api_version: 4 });
});

const triggers = ['/policy-updater/trigger', '/data-updater/trigger', '/update_policy', '/update_policy_data'];

test('fetches all data again on request, and serves checks at the same time', async (t) => {
	const { http, feed, replica } = await serveAcme(t);
	const { engine } = replica.current() ?? {};
	const snapshotsAsked = () => feed.seen.filter(({ etag }) => etag === undefined).length;
	for (const path of triggers) {
		const before = snapshotsAsked();
		const { status, body } = await http.post(path);
		t.is(status, 200);
		t.deepEqual(body, { status: 'ok' });
		await eventually(() => snapshotsAsked() > before);
		t.is((await http.post('/allowed', annWrites)).body['allow'], true, path);
	}
	await eventually(() => replica.current()?.engine !== engine);
	t.is(replica.current()?.revision, 7);
	const patches = assign('ben', 'acme', ['editor']);
	feed.publish({ revision: 8, snapshot: Buffer.from(''), step: await step({ base: 7, revision: 8, patches }) });
	await replica.reached(8);
	t.is((await http.post('/allowed', benWrites)).body['allow'], true, 'the decision point follows the feed as before');
});

test('fetches all data at most once per interval', async (t) => {
	const { http, feed, replica } = await serveAcme(t, { refetch: 3_600_000 });
	const snapshotsAsked = () => feed.seen.filter(({ etag }) => etag === undefined).length;
	const before = snapshotsAsked();
	const { engine } = replica.current() ?? {};
	for (let round = 0; round < 20; round += 1) t.is((await http.post('/update_policy')).status, 200);
	await eventually(() => replica.current()?.engine !== engine);
	for (let round = 0; round < 20; round += 1) t.is((await http.post('/update_policy')).status, 200);
	t.is(snapshotsAsked(), before + 1);
});

test('a decision is logged with its code, without secrets', async (t) => {
	const lines: string[] = [];
	const log = pino({ level: 'debug', base: null }, { write: (line: string) => void lines.push(line) });
	const { http } = await serveAcme(t, { log });
	await http.post('/allowed', { ...benWrites, context: { password: 'hidden' } });
	t.like(JSON.parse(lines[0] ?? '{}'), {
		event: 'decision',
		allow: false,
		code: 'no_permission',
		revision: 7,
		user: 'ben',
		action: 'write',
		resource: 'document',
		tenant: 'acme',
	});
	t.is(lines.length, 1);
	t.notRegex(lines.join(), /hidden|permit_key/);
});
