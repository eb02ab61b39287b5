// @rest

import { createServer, request } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { type Answer, client, type Loose } from '../support/client.js';
import { signInToConsole } from '../support/console.js';
import { foreignOrigin, sending } from '../support/element.js';
import { eventually } from '../support/eventually.js';
import { fails } from '../support/failure.js';
import { type FakeDecisionPoint, startFakeDecisionPoint } from '../support/fake-decision-point.js';
import { createSecret, type Management, newPlace, type Place, startManagement } from '../support/management.js';
import { freePort } from '../support/ports.js';
import { facts, schema, startStack } from '../support/stack.js';

/** Console sessions reach decision points through the API, which adds the key (docs/policy/console.md: Decision points). */

const json = { 'content-type': 'application/json' };
const question = { user: 'ann', action: 'read', resource: 'document' };
const oneMiB = 1024 * 1024;

let fake: FakeDecisionPoint;
let management: Management;

test.before('start', async () => {
	fake = await startFakeDecisionPoint();
	const CONSOLE_PDP_URL = `http://127.0.0.1:${fake.port}/at/{project}/{environment}/`;
	management = await startManagement('server', { CONSOLE_PDP_URL });
});

test.after.always('stop', async () => {
	await management.stop();
	await fake.stop();
});

async function relayed() {
	const place = await newPlace(management, management.project);
	const signed = await signInToConsole(place, place.secret);
	return { place, base: `/console/pdp/default/${place.key}`, ...signed };
}

/** Asserts that a response explains, as an API failure, why the decision point is unavailable. */
function isAway(t: ExecutionContext, { status, body }: Answer<unknown>, expected: 502 | 503, says: string): void {
	const { error_code, message } = body as Loose;
	t.deepEqual([status, error_code], [expected, 'UNEXPECTED_ERROR']);
	t.true(String(message).includes(says), String(message));
}

/** Returns the requests for a place that the fake decision point has received. */
function askedAbout({ key }: Place) {
	return fake.asked.filter(({ path }) => path.startsWith(`/at/default/${key}/`));
}

test.serial('a request is forwarded with the environment’s key, which the response does not contain', async (t) => {
	const { place, base, http, headers, cookie } = await relayed();
	const revisions = { 'x-revision': '7', 'x-policy-revision': '6', 'x-decision-id': 'd-1', 'x-min-revision': '5' };
	const others = { 'set-cookie': 'a=b', authorization: `Bearer ${place.secret}`, 'x-secret': place.secret, etag: 'e' };
	fake.answer = { status: 200, headers: { ...json, ...revisions, ...others }, body: '{"allow":true,"n":1e400}' };
	const sent = { 'x-min-revision': '7', 'x-debug': 'attempts', 'x-permit-sdk-version': 'x', 'x-forwarded-for': 'me' };
	const raw = '{"user": "ann", "big": 9007199254740993}';
	const answer = await http.post(`${base}/allowed`, undefined, { headers: sent, raw });
	t.is(answer.status, 200);
	const [asked] = askedAbout(place);
	t.like(asked, { method: 'POST', path: `/at/default/${place.key}/allowed`, body: raw });
	t.like(asked?.headers, { 'x-min-revision': '7', 'x-debug': 'attempts', authorization: `Bearer ${place.secret}` });
	const shown = JSON.stringify(asked);
	t.false(shown.includes(cookie.slice(-43)) || shown.includes(headers['origin'] ?? '-'), 'no part of the session');
	t.deepEqual(Object.keys(asked?.headers ?? {}).sort(), [
		'accept',
		'authorization',
		'connection',
		'content-length',
		'content-type',
		'host',
		'x-debug',
		'x-min-revision',
	]);
	for (const [name, value] of Object.entries(revisions)) t.is(answer.headers.get(name), value);
	for (const name of Object.keys(others)) t.is(answer.headers.get(name), null, name);
	const received = await fetch(`${management.url}${base}/allowed`, { method: 'POST', headers, body: '{}' });
	t.is(await received.text(), '{"allow":true,"n":1e400}', 'unchanged');
	t.is(received.headers.get('content-type'), 'application/json');
	t.is(received.headers.get('x-content-type-options'), 'nosniff');
});

test.serial('the response has the decision point’s status', async (t) => {
	const { base, http } = await relayed();
	for (const status of [200, 400, 404, 422, 424, 500, 503]) {
		fake.answer = { status, headers: json, body: `{"detail":"${status}"}` };
		t.like(await http.post(`${base}/allowed`, question), { status, body: { detail: String(status) } });
	}
});

const post = [
	'/allowed',
	'/allowed/bulk',
	'/allowed/all-tenants',
	'/allowed_url',
	'/user-permissions',
	'/authorized_users',
	'/filter',
];
const get = ['/healthy', '/ready', '/version'];

test.serial('only decision and health endpoints are reachable', async (t) => {
	const { place, base, http } = await relayed();
	fake.answer = { status: 200, headers: json, body: '{}' };
	for (const path of post) t.is((await http.post(base + path, question)).status, 200, path);
	for (const path of get) t.is((await http.get(base + path)).status, 200, path);
	t.deepEqual(
		askedAbout(place).map(({ method, path }) => `${method} ${path.replace(`/at/default/${place.key}`, '')}`),
		[...post.map((path) => `POST ${path}`), ...get.map((path) => `GET ${path}`)],
	);
	const before = fake.asked.length;
	const others = [
		'/',
		'',
		'/facts/users',
		'/metrics',
		'/docs',
		'/policy-updater/trigger',
		'/user-tenants',
		'/local/role_assignments',
		'/access/v1/evaluation',
		'/operation_approvals/x/consume',
		'/allowed/',
		'/allowed/bulk/x',
		'/allowed%2Fbulk',
		'/allowed/..%2Fmetrics',
		'/..%2f..%2fmetrics',
		'/%2e%2e/metrics',
		'/allowed%3Fx',
		'//allowed/x',
		'/nginx_allowed',
	];
	for (const path of others) {
		fails(t, await http.get(base + path), 404);
		t.true([404, 405].includes((await http.post(base + path, question)).status), path);
	}
	for (const path of post) fails(t, await http.get(base + path), 404);
	for (const path of get) fails(t, await http.post(base + path, question), 405);
	for (const method of ['PUT', 'PATCH', 'DELETE']) {
		t.true([404, 405].includes((await http.send(method, `${base}/allowed`, question)).status), method);
	}
	t.is(fake.asked.length, before, 'no request has reached the decision point');
});

test.serial('only sessions in the environment can use the relay', async (t) => {
	const { place, base, http, headers, cookie } = await relayed();
	const { url, id, secret } = place;
	const other = await relayed();
	const before = fake.asked.length;
	const without = (name: string) => {
		const { [name]: _, ...rest } = headers;
		return sending(url, rest);
	};
	for (const one of [client(url), without('cookie'), without('x-console-environment'), sending(url, { cookie })]) {
		fails(t, await one.post(`${base}/allowed`, question), 401);
		fails(t, await one.get(`${base}/healthy`), 401);
	}
	fails(t, await client(url, secret).post(`${base}/allowed`, question), 401, 'sign in');
	const both = sending(url, { ...headers, authorization: `Bearer ${secret}` });
	fails(t, await both.post(`${base}/allowed`, question), 401);
	fails(t, await without('origin').post(`${base}/allowed`, question), 403);
	fails(t, await sending(url, { ...headers, origin: foreignOrigin }).post(`${base}/allowed`, question), 403);
	fails(t, await http.post(`${other.base}/allowed`, question), 403, other.place.key);
	fails(t, await http.post('/console/pdp/default/nowhere/allowed', question), 404);
	const organization = await createSecret(management.store, place.organization_id, {});
	const { http: wide } = await signInToConsole(place, organization);
	fails(t, await wide.post(`${other.base}/allowed`, question), 403, 'this session belongs to a different environment');
	fails(t, await wide.get(`${other.base}/ready`), 403, 'this session belongs to a different environment');
	t.is(fake.asked.length, before, 'none of these requests has reached the decision point');
	const reading = { project_id: place.project_id, environment_id: id, access_level: 'read' } as const;
	const reader = await signInToConsole(place, await createSecret(management.store, place.organization_id, reading));
	t.is((await reader.http.post(`${base}/allowed`, question)).status, 200, 'read access is sufficient');
	t.is((await reader.http.post(`/console/pdp/${place.project_id}/${id}/allowed`, question)).status, 200);
	t.deepEqual(
		askedAbout(place).map(({ headers: { authorization } }) => authorization),
		[`Bearer ${secret}`, `Bearer ${secret}`],
	);
});

test.serial('a health check of a decision point does not count as session use, but a check does', async (t) => {
	const { place, base, http } = await relayed();
	const rows = () => management.store.database.knex('console_sessions').where({ environment_id: place.id });
	const old = new Date(Date.now() - 3_600_000);
	await rows().update({ last_used_at: old, rotated_at: old });
	t.is((await http.get(`${base}/healthy`)).headers.get('set-cookie'), null);
	t.is((await rows())[0]?.['last_used_at'].getTime(), old.getTime());
	t.regex((await http.post(`${base}/allowed`, question)).headers.get('set-cookie') ?? '', /^regolith_console_/);
	t.true((await rows())[0]?.['last_used_at'] > old);
});

test.serial('overlong, compressed and broken requests are not forwarded', async (t) => {
	const { place, base, http, headers } = await relayed();
	const raw = `"${'x'.repeat(oneMiB - 2)}"`;
	t.is((await http.post(`${base}/allowed`, undefined, { raw })).status, 200, 'one MiB');
	fails(t, await http.post(`${base}/allowed`, undefined, { raw: `${raw} ` }), 413);
	const chunked = await fetch(`${management.url}${base}/allowed`, {
		method: 'POST',
		headers,
		body: new Blob([raw, raw]).stream(),
		duplex: 'half',
	});
	t.is(chunked.status, 413);
	const compressed = { headers: { 'content-encoding': 'gzip' } };
	fails(t, await http.post(`${base}/allowed`, question, compressed), 400, 'Content-Encoding');
	await new Promise<void>((resolve) => {
		const length = { 'content-length': '100' };
		const sent = request(`${management.url}${base}/allowed`, { method: 'POST', headers: { ...headers, ...length } });
		sent.on('error', () => resolve());
		sent.write('{"user":', () => sent.destroy());
	});
	t.is((await http.post(`${base}/allowed`, question)).status, 200);
	t.deepEqual(
		askedAbout(place).map(({ body }) => body.length),
		[oneMiB, JSON.stringify(question).length],
	);
});

test.serial('a response from anything but this environment’s decision point is a 502', async (t) => {
	const { place, base, http } = await relayed();
	const html = { 'content-type': 'text/html' };
	for (const [answer, says] of [
		[{ status: 401, headers: json, body: '{}' }, 'a different environment'],
		[{ status: 403, headers: json, body: `{"detail":"${place.secret}"}` }, 'a different environment'],
		[{ status: 302, headers: { ...json, location: 'http://127.0.0.1:1/' }, body: '' }, 'is not a decision point'],
		[{ status: 200, headers: html, body: '<script>' }, 'is not a decision point'],
		[{ status: 200, headers: {}, body: '' }, 'is not a decision point'],
		[{ status: 200, headers: json, body: 'x'.repeat(16 * oneMiB + 1) }, 'longer than'],
	] as const) {
		fake.answer = answer;
		const refused = await http.post(`${base}/allowed`, question);
		isAway(t, refused, 502, says);
		t.notRegex(JSON.stringify(refused.body), /permit_key_|127\.0\.0\.1/);
	}
	fake.answer = { status: 200, headers: json, body: '{}' };
});

test.serial('a missing or unreachable decision point is reported', async (t) => {
	const port = await freePort();
	const away = await startManagement('server', { CONSOLE_PDP_URL: `http://127.0.0.1:${port}` });
	t.teardown(away.stop);
	const none = await startManagement();
	t.teardown(none.stop);
	for (const [site, status, configured, says] of [
		[away, 502, true, 'did not respond'],
		[none, 503, false, 'CONSOLE_PDP_URL'],
	] as const) {
		const place = await newPlace(site, site.project);
		const { http } = await signInToConsole(place, place.secret);
		t.is((await http.get('/v2/auth/console')).body['decision_point'], configured);
		for (const path of ['/healthy', '/version']) {
			const answer = await http.get(`/console/pdp/default/${place.key}${path}`);
			isAway(t, answer, status, says);
			t.notRegex(JSON.stringify(answer.body), /permit_key_|127\.0\.0\.1/);
		}
	}
});

test.serial('closing the page cancels its request', async (t) => {
	let [asked, ended] = [false, false];
	const slow = createServer((question) => {
		asked = true;
		question.resume();
		question.socket.once('close', () => {
			ended = true;
		});
	});
	const port = await freePort();
	await new Promise<void>((resolve) => slow.listen(port, '127.0.0.1', resolve));
	t.teardown(() => void slow.close());
	const site = await startManagement('server', { CONSOLE_PDP_URL: `http://127.0.0.1:${port}` });
	t.teardown(site.stop);
	const place = await newPlace(site, site.project);
	const { headers } = await signInToConsole(place, place.secret);
	const sent = request(`${site.url}/console/pdp/default/${place.key}/allowed`, { method: 'POST', headers });
	sent.on('error', () => {});
	sent.end('{}');
	await eventually(
		async () => asked,
		(is) => is,
	);
	sent.destroy();
	await eventually(
		async () => ended,
		(is) => is,
	);
	t.true(ended);
});

test.serial('a decision point treats a session like its own clients', async (t) => {
	const port = await freePort();
	const stack = await startStack('server', {
		PDP_PORT: String(port),
		CONSOLE_PDP_URL: `http://127.0.0.1:${port}`,
	});
	t.teardown(stack.stop);
	const { environment, api, pdp, keys } = stack;
	await environment.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } });
	await environment.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['document:read'] });
	const user = { key: 'ann', role_assignments: [{ role: 'viewer', tenant: 'default' }] };
	const { revision } = await environment.post(`${facts}/users`, user);
	const scope = await environment.get<{ environment_id: string }>('/v2/api-key/scope');
	const place = { url: api.listening.url, id: scope.body.environment_id, project: 'default' } as Place;
	const { http } = await signInToConsole(place, keys.environment);
	const headers = { 'x-min-revision': String(revision), 'x-debug': 'attempts' };
	const asked = { ...question, resource: { type: 'document', tenant: 'default' } };
	const own = await pdp.post('/allowed', asked, { headers });
	const answer = await http.post('/console/pdp/default/dev/allowed', asked, { headers });
	t.true(own.body['allow']);
	t.deepEqual(answer.body, own.body);
	t.is(answer.revision, own.revision);
	t.like(await http.get('/console/pdp/default/dev/version'), { status: 200 });
	t.is((await http.post('/console/pdp/default/dev/allowed', 5)).status, 422);
	// If all environments use the same decision point URL, it is the correct URL for only one of them.
	const other = await newPlace({ url: api.listening.url, store: api.store }, stack.project);
	const there = await signInToConsole(other, other.secret);
	isAway(t, await there.http.post(`/console/pdp/default/${other.key}/allowed`, asked), 502, 'a different environment');
});
