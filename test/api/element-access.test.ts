// @rest

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { guard } from '../../src/api/access/guard.js';
import { EnvironmentPath, endpoint } from '../../src/api/access.js';
import { elementOrigins } from '../../src/api/elements/cross-origin.js';
import { findElementSession } from '../../src/api/elements/element-session.js';
import { renderFailure } from '../../src/api/render-failure.js';
import { createTenant } from '../../src/domain/facts/tenant.js';
import { reply } from '../../src/http/endpoint.js';
import { createApplication, listen } from '../../src/http/server.js';
import { createLogger } from '../../src/log.js';
import { PolicyStore } from '../../src/store/policy/policy-store.js';
import type { Store } from '../../src/store/store.js';
import { tenantsBy } from '../../src/store/table/tenant.js';
import { KeySets } from '../../src/token/key-sets.js';
import { UserTokens } from '../../src/token/user-token.js';
import { EnvironmentCopier } from '../../src/transfer/environment-copy.js';
import { TenantCreate } from '../../src/wire/facts/tenant.js';
import { type Client, client, type Loose } from '../support/client.js';
import {
	bearing,
	configure,
	cookieOf,
	foreignOrigin,
	furnishElements,
	origin,
	sending,
	signIn,
	spend,
} from '../support/element.js';
import { fails } from '../support/failure.js';
import { type Management, newPlace, type Place, startManagement } from '../support/management.js';

/** Requirements that `element.read` and `element.write` place on callers. They are checked before the body is read. */

const path = '/v2/elements/:proj_id/:env_id/probe';
const probes = [
	endpoint({
		name: 'readProbe',
		summary: 'Get the signed-in user and the tenant count',
		tag: 'Probe',
		method: 'get',
		path,
		access: 'element.read',
		params: EnvironmentPath,
		returns: { 200: z.object({ user: z.string(), tenant: z.string(), tenants: z.int() }) },
		handle: async (_, { session: { user, tenant }, unit }) => {
			const tenants = await tenantsBy(unit, { attribute_filters: [] }).count();
			return reply(200, { user: user.key, tenant: tenant.key, tenants });
		},
	}),
	endpoint({
		name: 'writeProbe',
		summary: 'Create a tenant',
		tag: 'Probe',
		method: 'post',
		path,
		access: 'element.write',
		params: EnvironmentPath,
		body: TenantCreate,
		returns: { 200: z.object({ user: z.string() }) },
		handle: async ({ body }, { session, unit }) => {
			await createTenant(unit, body);
			return reply(200, { user: session.user.key });
		},
	}),
];

let management: Management;
let url: string;
let stop: () => Promise<void>;

test.before('start', async () => {
	management = await startManagement();
	const { store } = management;
	const tokens = new UserTokens(new KeySets(store.clock, async () => ({ status: 404, text: '' })), store.clock);
	const copier = new EnvironmentCopier(store, createLogger('silent'));
	const policies = new PolicyStore(store.database.knex, () => []);
	const monitoring = {
		probe: () => Promise.reject(),
		version: '',
		render: () => Promise.reject(),
		type: '',
		open: false,
	};
	const decisionPoints = { target: () => null, relay: () => Promise.reject() };
	const impact = {
		find: () => Promise.reject(),
		test: () => Promise.reject(),
		explain: () => Promise.reject(),
		writeTest: () => Promise.reject(),
	};
	const policyTests = { test: () => Promise.reject() };
	const surround = guard({
		store,
		policies,
		copies: copier,
		tokens,
		monitoring,
		decisionPoints,
		impact,
		policyTests,
	});
	const application = createApplication({ endpoints: probes, surround, renderFailure, onUnexpected: () => {} });
	const listening = await listen(application, '127.0.0.1', 0);
	url = listening.url;
	stop = () => listening.close();
});

test.after.always('stop', async () => {
	await stop();
	await management.stop();
});

/** Returns an environment with element users. `at` is the path of its test endpoint. */
async function furnished(): Promise<Place & { readonly at: string }> {
	const place = await newPlace(management, management.project);
	await furnishElements(place);
	return { ...place, at: `/v2/elements/${place.project}/${place.key}/probe` };
}

async function bearer(place: Place): Promise<Client> {
	return client(url, (await signIn(place)).element_bearer_token);
}

async function cookieFor(place: Place): Promise<string> {
	return cookieOf(await spend(place.url, (await signIn(place)).token));
}

test('the handler receives the signed-in user and works in the user’s environment', async (t) => {
	const place = await furnished();
	const [byBearer, byCookie] = [await bearer(place), sending(url, { cookie: await cookieFor(place), origin })];
	for (const [index, http] of [byBearer, byCookie].entries()) {
		t.deepEqual((await http.get(place.at)).body, { user: 'ann', tenant: 'acme', tenants: 3 + index });
		const revision = await place.revision();
		const written = await http.post(place.at, { key: `made-${index}`, name: 'Made' });
		t.deepEqual([written.status, written.body, written.revision], [200, { user: 'ann' }, revision + 1]);
	}
	const { body } = await place.http.get(`/v2/projects/${place.project}/envs/${place.key}/changes?kind=tenant`);
	const user = await place.http.get(`${place.facts}/users/ann`);
	const [last] = body['data'] as readonly Loose[];
	t.deepEqual(last?.['actor'], { id: user.body['id'], name: null }, 'the log names the user');
});

test('callers without an elements session get the same error before any byte of the body is read', async (t) => {
	const place = await furnished();
	const before = await place.revision();
	const strangers = [client(url), client(url, 'x'), place.http, sending(url, { cookie: 'permit_session=x', origin })];
	for (const http of strangers) {
		for (const method of ['GET', 'POST']) {
			const { send } = http === place.http ? client(url, place.secret) : http;
			const answer = await send(method, place.at, undefined, method === 'GET' ? {} : { raw: '{' });
			fails(t, answer, 401, 'no valid elements session: sign in again');
		}
	}
	const unread = await withheld(place.at, {}, async () => {});
	t.is(unread.status, 401);
	t.is(await place.revision(), before);
});

test('an environment without access looks like a missing environment', async (t) => {
	const [place, elsewhere] = [await furnished(), await furnished()];
	const http = await bearer(place);
	const { project, project_id, id, key } = place;
	for (const [proj, env] of [
		[project, key],
		[project_id, id],
		[project, id],
		[project_id.replaceAll('-', ''), id.replaceAll('-', '')],
		[project_id, key],
	]) {
		t.is((await http.get(`/v2/elements/${proj}/${env}/probe`)).status, 200, `${proj}/${env}`);
	}
	for (const [proj, env] of [
		[project, elsewhere.key],
		[project_id, elsewhere.id],
		[project, 'nothing'],
		['nothing', key],
		[elsewhere.id, id],
		[project_id, project_id],
	]) {
		for (const method of ['GET', 'POST']) {
			const answer = await http.send(method, `/v2/elements/${proj}/${env}/probe`, method === 'GET' ? undefined : {});
			fails(t, answer, 404, `could not find 'Environment' with the given filters: id='${env}'`);
		}
	}
	fails(t, await http.get('/v2/elements/%00/%00/probe'), 422);
});

test('a write with a cookie requires an allowed origin of the environment, or the API’s own origin', async (t) => {
	const place = await furnished();
	const cookie = await cookieFor(place);
	const before = await place.revision();
	const body = { key: 'forged', name: 'Forged' };
	for (const headers of [
		{},
		{ origin: foreignOrigin },
		{ origin: 'null' },
		{ origin: `${origin}.evil.com` },
		{ origin: origin.replace('https', 'http') },
		{ origin: '' },
	]) {
		fails(t, await sending(url, { cookie, ...headers }).post(place.at, body), 403, 'elements_origins');
		// A different content type, for which browsers send no preflight request, is rejected too.
		const plain = { cookie, 'content-type': 'text/plain', ...headers };
		fails(t, await sending(url, plain).post(place.at, undefined, { raw: JSON.stringify(body) }), 403);
	}
	t.is(await place.revision(), before);
	t.is((await sending(url, { cookie }).get(place.at)).status, 200, 'only CORS rejects reads');
	const { element_bearer_token } = await signIn(place);
	const forged = { authorization: `Bearer ${element_bearer_token}`, origin: foreignOrigin };
	t.is(
		(await sending(url, forged).post(place.at, { key: 'a', name: 'A' })).status,
		200,
		'a bearer token needs no origin',
	);
	t.is((await sending(url, { cookie, origin: url }).post(place.at, { key: 'b', name: 'B' })).status, 200);
	await configure(place, { settings: {} });
	fails(t, await sending(url, { cookie, origin }).post(place.at, body), 403);
});

const between: Readonly<Record<string, (place: Place, bearer: Client) => Promise<unknown>>> = {
	'is removed from the tenant': ({ http, facts }) => http.delete(`${facts}/tenants/acme/users/ann`),
	'is deleted': ({ http, facts }) => http.delete(`${facts}/users/ann`),
	'signs out': (_, session) => session.post('/v2/auth/logout'),
	'is signed out': ({ http, project, key }) => http.delete(`/v2/elements/${project}/${key}/sessions?user=ann`),
};

for (const [what, happen] of Object.entries(between)) {
	test(`a user who ${what} while the body is being sent writes nothing`, async (t) => {
		const place = await furnished();
		const { element_bearer_token } = await signIn(place);
		const headers = { authorization: `Bearer ${element_bearer_token}` };
		let revision = 0;
		const answer = await withheld(place.at, headers, async () => {
			await happen(place, client(place.url, element_bearer_token));
			revision = await place.revision();
		});
		t.is(answer.status, 401, answer.body);
		t.is(await place.revision(), revision);
		fails(t, await place.http.get(`${place.facts}/tenants/late`), 404);
	});
}

test('concurrent writes all find the session', async (t: ExecutionContext) => {
	const place = await furnished();
	await bearing(place);
	const http = await bearer(place);
	const written = await Promise.all(
		Array.from({ length: 20 }, (_, index) => http.post(place.at, { key: `t${index}`, name: 'T' })),
	);
	t.deepEqual([...new Set(written.map(({ status }) => status))], [200]);
});

/**
 * Sends the headers and the first byte of a write, and the rest of the body after `meanwhile` resolves. Returns the
 * response.
 */
async function withheld(at: string, headers: Readonly<Record<string, string>>, meanwhile: () => Promise<void>) {
	const body = JSON.stringify({ key: 'late', name: 'Late' });
	const length = { 'content-length': String(body.length) };
	const sent = httpRequest(url + at, { method: 'POST', headers: { ...headers, ...length } });
	const answered = new Promise<IncomingMessage>((resolve, reject) => sent.on('response', resolve).on('error', reject));
	sent.flushHeaders();
	sent.write(body.slice(0, 1));
	// This is long enough for the server to read the headers. If the server has not read them, the test still passes.
	await sleep(100);
	await meanwhile();
	sent.end(body.slice(1));
	const response = await answered;
	return { status: response.statusCode, body: await text(response) };
}

test('a request looks up the session once', async (t) => {
	const looks: string[] = [];
	const store = {
		entrance: {
			find: async (_: string, secret: string) => {
				looks.push(secret);
				return null;
			},
			isEmbedded: async () => false,
		},
	} as unknown as Store;
	const request = (secret: string) => ({
		path: '/v2/elements/a/b/config',
		origin,
		headers: { authorization: `Bearer ${secret}` },
		cookie: () => undefined,
	});
	const [one, other] = [request('one'), request('other')];
	await elementOrigins(store).allows(one);
	for (const asked of [one, other, one]) t.is(await findElementSession(store, asked), null);
	t.deepEqual(looks, ['one', 'other']);
});
