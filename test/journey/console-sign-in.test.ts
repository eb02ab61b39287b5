// @rest

import { createHash } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { createConsoleTicket } from '../../src/compose/bootstrap.js';
import { type Answer, client, type Loose } from '../support/client.js';
import { askToSignIn, consolePath, signedWith, signInToConsole } from '../support/console.js';
import { onEachStore } from '../support/each-store.js';
import { configure, cookieOf, foreignOrigin, origin, sending } from '../support/element.js';
import { fails, problemPlaces } from '../support/failure.js';
import { createSecret, newOrganization, newPlace, type Place } from '../support/management.js';

/** Console users sign in, work with a session in an environment, and sign out (docs/policy/console.md). */

const journey = onEachStore();
const nobody = '00000000-0000-4000-8000-000000000000';

/** Queries a place's sessions directly in the database. */
function rowsIn({ id, store }: Pick<Place, 'id' | 'store'>) {
	return store.database.knex('console_sessions').where({ environment_id: id });
}

function ago(seconds: number): Date {
	return new Date(Date.now() - seconds * 1_000);
}

/** Asserts that the response rejects the session as invalid, for this reason. */
function isSignedOut(t: ExecutionContext, answer: Answer<unknown>, code: string, what = code): void {
	fails(t, answer, 401);
	const { title, error_code, additional_info } = answer.body as Loose;
	t.deepEqual([title, error_code, additional_info], ['No user is signed in', 'UNAUTHORIZED', { code }], what);
}

/** Creates a ticket for a place's key, as `regolith console` does. */
function ticketFor({ project, key, store }: Place): Promise<string> {
	return createConsoleTicket(store, { project, environment: key });
}

/** Creates a key for a place's environment or, without `within`, for its organization. Returns it with its id. */
async function newKey(place: Place, access_level: 'admin' | 'write' | 'read' | 'no_access', within = true) {
	const { store, organization_id, project_id, id, url } = place;
	const opened = within ? { project_id, environment_id: id } : {};
	const secret = await createSecret(store, organization_id, { ...opened, access_level });
	const row = await store.caller(secret);
	return { secret, id: row?.key_id ?? '', http: client(url, secret) };
}

journey('a ticket signs in once, and the session has the access of its key', async (t, place) => {
	const { url, id, key, schema, key_id } = place;
	const ticket = await ticketFor(place);
	const answer = await askToSignIn(place, { ticket });
	t.is(answer.status, 200);
	const [organization] = (await place.http.get<Loose[]>('/v2/orgs')).body;
	const project = (await place.http.get('/v2/projects/default')).body;
	const names = ({ id, key, name }: Loose = {}) => ({ id, key, name });
	const session = {
		organization: names(organization),
		project: names(project),
		environment: { id, key, name: `Place ${key}`, production: false },
		key: { id: key_id, name: `${key} environment key`, object_type: 'env', access_level: 'admin' },
		revision: 1,
		lineage: (await place.store.lineages.list(1))[0]?.id,
		decision_point: false,
	};
	t.deepEqual(answer.body as Loose, session);
	t.is(answer.headers.get('cache-control'), 'no-store');
	const cookie = answer.headers.get('set-cookie') ?? '';
	t.regex(cookie, new RegExp(`^regolith_console_${id}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`));

	const { http, secret } = signedWith(url, id, cookieOf(answer));
	t.deepEqual((await http.get(`${schema}/roles`)).body as unknown, []);
	const made = await http.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer' });
	t.like(made, { status: 200, revision: 2 });
	const { body: log } = await http.get<{ data: Loose[] }>(`/v2/projects/default/envs/${key}/changes`);
	const change = log.data.find(({ key: changed }) => changed === 'viewer');
	t.like(change, { actor: { id: key_id } }, 'the change names the key');
	t.is((await http.get(`/v2/api-key/default/${key}`)).body['secret'], place.secret, 'an admin key sees secrets');
	t.like((await http.get('/v2/api-key/scope')).body, { environment_id: id });
	const seen = await http.get(`${consolePath}?project=default&environment=${key}`);
	t.deepEqual(seen.body as Loose, { ...session, revision: 2 });
	for (const query of ['', `?environment=${id}`, `?project=${place.project_id}`]) {
		t.is((await http.get(consolePath + query)).status, 200, query);
	}
	const [row] = await rowsIn(place);
	t.false(JSON.stringify(row).includes(secret), 'no secret is stored in plain text');

	const again = await askToSignIn(place, { ticket });
	isSignedOut(t, again, 'TICKET_SPENT');
	t.regex(String(again.body['message']), /already used/);
	t.is(again.headers.get('set-cookie'), null);
});

journey('a ticket signs in once; expired, unknown and used tickets give a reason', async (t, place) => {
	const { store } = place;
	const old = await ticketFor(place);
	const ticket_hash = createHash('sha256').update(old).digest();
	await store.database
		.knex('console_tickets')
		.where({ ticket_hash })
		.update({ expires_at: ago(1) });
	isSignedOut(t, await askToSignIn(place, { ticket: old }), 'TICKET_EXPIRED');
	isSignedOut(t, await askToSignIn(place, { ticket: `${old}x` }), 'TICKET_UNKNOWN');
	isSignedOut(t, await askToSignIn(place, { ticket: nobody }), 'TICKET_UNKNOWN');

	const raced = await ticketFor(place);
	fails(t, await askToSignIn(place, { ticket: raced, project: 'nowhere', environment: 'dev' }), 404, 'nowhere');
	const answers = await Promise.all(Array.from({ length: 10 }, () => askToSignIn(place, { ticket: raced })));
	t.is(answers.filter(({ status }) => status === 200).length, 1, 'a failed sign-in does not use up the ticket');
	for (const answer of answers.filter(({ status }) => status !== 200)) isSignedOut(t, answer, 'TICKET_SPENT');

	const late = await ticketFor(place);
	t.is((await place.http.post(`/v2/api-key/${place.key_id}/rotate-secret`)).status, 200);
	fails(t, await askToSignIn(place, { ticket: late }), 401, 'rotated');
});

journey('an API key signs in to an environment in its scope, by default the oldest', async (t, place, management) => {
	const { organization, url, store } = management;
	const project = `${place.key}-p`;
	await organization.post('/v2/projects', { key: project, name: 'P', initial_environments: [] });
	const opened = await newPlace(management, organization, project, 'prod');
	await newPlace(management, organization, project, 'later');
	const { project_id, organization_id } = opened;
	const ofProject = await createSecret(store, organization_id, { project_id });
	const ofOrganization = await createSecret(store, organization_id, {});
	const environment = async (body: object) => {
		const answer = await askToSignIn({ url }, body);
		return (answer.body['environment'] as Loose | undefined)?.['key'] ?? answer.status;
	};
	t.is(await environment({ api_key: ofProject }), 'prod');
	t.is(await environment({ api_key: ofProject, environment: 'later' }), 'later');
	t.is(await environment({ api_key: ofOrganization, project }), 'prod');
	t.is(await environment({ api_key: ofOrganization }), 'dev', 'the oldest environment');
	t.is(await environment({ api_key: ofOrganization, environment: opened.id }), 'prod');
	t.is(await environment({ api_key: ofOrganization, project: null, environment: null }), 'dev');
	t.is(await environment({ api_key: place.secret }), place.key);
	t.is(await environment({ api_key: place.secret, project, environment: 'prod' }), 403);
	t.is(await environment({ api_key: ofProject, project: 'default' }), 403);
	t.is(await environment({ api_key: ofOrganization, project, environment: 'nowhere' }), 404);
	const vague = await askToSignIn({ url }, { api_key: ofOrganization, environment: 'prod' });
	fails(t, vague, 422);
	t.deepEqual(problemPlaces(vague), ['body.project']);

	fails(t, await askToSignIn({ url }, { api_key: `${ofProject}0` }), 401, 'unknown');
	fails(t, await askToSignIn({ url }, { api_key: (await newKey(place, 'no_access')).secret }), 403, 'no access');
	const stranger = await newOrganization(management, `${place.key}-stranger`);
	const theirs = await createSecret(store, stranger.id, {});
	fails(t, await askToSignIn({ url }, { api_key: theirs }), 404, 'access to no environment');
	fails(t, await askToSignIn({ url }, { api_key: theirs, project: 'default', environment: place.key }), 404);
	fails(t, await askToSignIn({ url }, { api_key: theirs, environment: place.id }), 404);
});

journey('an environment is for production by its setting, or otherwise by its key', async (t, place, management) => {
	const { organization, url } = management;
	const project = `${place.key}-q`;
	await organization.post('/v2/projects', { key: project, name: 'Q', initial_environments: [] });
	for (const [key, setting, expected] of [
		['prod', undefined, true],
		['production', undefined, true],
		['prod-2', undefined, false],
		['staging', true, true],
		['production-2', null, false],
	] as const) {
		const one = await newPlace(management, organization, project, key);
		if (setting !== undefined) t.is((await configure(one, { settings: { production: setting } })).status, 200);
		const { body } = await askToSignIn({ url }, { api_key: one.secret });
		t.is((body['environment'] as Loose)['production'], expected, key);
		if (key !== 'prod') continue;
		await configure(one, { settings: { production: false } });
		const { http } = await signInToConsole(one, one.secret);
		t.is(((await http.get(consolePath)).body['environment'] as Loose)['production'], false);
	}
	const wrong = await configure(place, { settings: { production: 'yes' } });
	fails(t, wrong, 422, 'yes');
	t.deepEqual(problemPlaces(wrong), ['body.settings.production']);
});

/** Empty bodies, and bodies with extra or wrong fields. */
const wrongBodies = [
	[{}, ['body.project', 'body.environment']],
	[{ project: 'default' }, ['body.environment']],
	[{ ticket: '' }, ['body.ticket']],
	[{ ticket: 5 }, ['body.ticket']],
	[{ api_key: ['a'] }, ['body.api_key']],
	[{ ticket: 'a', api_key: 'b' }, ['body.api_key']],
	[{ api_key: 'a', environment: '' }, ['body.environment']],
	[{ api_key: 'a', project: 'a\0b' }, ['body.project']],
	[{ api_key: 'a', key: 'b' }, ['body.key']],
	[{ ticket: 'x'.repeat(16_385) }, ['body.ticket']],
	[5, ['body']],
] as const;

journey('an invalid sign-in request is rejected with the location of the problem', async (t, { url }) => {
	for (const [body, places] of wrongBodies) {
		const answer = await client(url).post(consolePath, body);
		fails(t, answer, 422);
		t.deepEqual(problemPlaces(answer), places, JSON.stringify(body).slice(0, 80));
	}
	fails(t, await client(url).post(consolePath, { ticket: 'x'.repeat(40_000) }), 413);
	fails(t, await client(url).post(consolePath, undefined, { raw: '{' }), 400);
});

journey('a page from a different origin cannot sign in, switch or sign out', async (t, place) => {
	await configure(place, { settings: { elements_origins: [origin] } });
	const { url, secret, id, schema } = place;
	const { cookie, http } = await signInToConsole(place, secret);
	const shown = { cookie, 'x-console-environment': id };
	for (const from of [origin, foreignOrigin, 'null', `${url}.evil.example`, url.replace('http:', 'https:'), '']) {
		const page = sending(url, { ...shown, origin: from });
		const writes = [
			page.post(consolePath, { api_key: secret }),
			page.post(consolePath, { project: 'default', environment: place.key }),
			page.delete(consolePath),
			page.post(`${schema}/roles`, { key: 'a', name: 'A' }),
			page.patch(`/v2/projects/default/envs/${place.key}`, { name: 'B' }),
			page.delete(`${schema}/roles/a`),
			page.put(`${schema}/resources/a`, { name: 'A', actions: {} }),
		];
		for (const answer of await Promise.all(writes)) {
			fails(t, answer, 403, 'X-Forwarded-Proto');
			t.is(answer.headers.get('access-control-allow-origin'), null);
			t.is(answer.headers.get('set-cookie'), null);
		}
	}
	const unnamed = sending(url, shown);
	fails(t, await unnamed.post(`${schema}/roles`, { key: 'a', name: 'A' }), 403, url);
	fails(t, await unnamed.delete(consolePath), 403);
	fails(t, await unnamed.post(consolePath, { project: 'default', environment: place.key }), 403);
	t.is((await unnamed.get(`${schema}/roles`)).status, 200, 'reads need no origin');
	const asked = { origin, 'access-control-request-method': 'POST' };
	const preflight = await sending(url, asked).send('OPTIONS', consolePath);
	t.is(preflight.headers.get('access-control-allow-origin'), null);
	t.is((await http.get(consolePath)).status, 200, 'and the session still exists');
	t.is(await place.revision(), 2);
});

journey('a proxy determines the server’s own origin, and the cookie requires TLS', async (t, place) => {
	const { url, secret, id, schema } = place;
	const proxied = { host: 'regolith.example.com', 'x-forwarded-proto': 'https' };
	const sent = { headers: { ...proxied, origin: 'https://regolith.example.com' } };
	const answer = await client(url).post(consolePath, { api_key: secret }, sent);
	t.regex(answer.headers.get('set-cookie') ?? '', /; SameSite=Strict; Secure$/);
	const { cookie } = signedWith(url, id, cookieOf(answer));
	const page = sending(url, { ...sent.headers, cookie, 'x-console-environment': id });
	t.is((await page.post(`${schema}/roles`, { key: 'a', name: 'A' })).status, 200);
	const plain = { ...sent.headers, origin: 'http://regolith.example.com' };
	fails(t, await sending(url, { ...plain, cookie, 'x-console-environment': id }).delete(`${schema}/roles/a`), 403);
	for (const [host, secure] of [
		['localhost:8000', false],
		['127.0.0.1', false],
		['[::1]:80', false],
		['10.0.0.1:8000', true],
		['localhost.example.com', true],
		['127.0.0.1.example.com', true],
	] as const) {
		const { headers } = await client(url).post(consolePath, { api_key: secret }, { headers: { host } });
		t.is(headers.get('set-cookie')?.endsWith('; Secure'), secure, host);
	}
});

journey('a cookie requires the header X-Console-Environment, and the header requires a cookie', async (t, place) => {
	const { url, secret, id, schema } = place;
	const roles = `${schema}/roles`;
	const { cookie, secret: session, headers } = await signInToConsole(place, secret);
	fails(t, await sending(url, { cookie }).get(roles), 401, 'API key');
	fails(t, await sending(url, { cookie, origin: url }).post(roles, { key: 'a', name: 'A' }), 401);
	const named = (value: string, more = {}) => sending(url, { ...headers, 'x-console-environment': value, ...more });
	isSignedOut(t, await sending(url, { 'x-console-environment': id }).get(roles), 'SIGNED_OUT');
	for (const value of [
		'',
		' ',
		'dev',
		nobody,
		`${id},${id}`,
		`${id}=`,
		`${id};a`,
		'../',
		'*',
		"' or true--",
		`${id}0`,
	]) {
		isSignedOut(t, await named(value).get(roles), 'SIGNED_OUT', value);
	}
	for (const value of [id.toUpperCase(), id.replaceAll('-', '')]) t.is((await named(value).get(roles)).status, 200);
	for (const wrong of ['', 'x', `${session}0`, session.slice(1), secret, '%00', `"${session}"x`]) {
		const answer = await named(id, { cookie: `regolith_console_${id}=${wrong}` }).get(roles);
		isSignedOut(t, answer, 'SIGNED_OUT', wrong);
	}
	t.is((await named(id, { cookie: `a=b; ${cookie}; c=d` }).get(roles)).status, 200);
	for (const authorization of [`Bearer ${session}`, 'Bearer', `Bearer ${secret}0`]) {
		fails(t, await named(id, { authorization }).get(roles), 401);
	}
	const reader = await newKey(place, 'read');
	const asReader = named(id, { authorization: `Bearer ${reader.secret}` });
	fails(t, await asReader.post(roles, { key: 'a', name: 'A' }), 403, 'read-only');
	for (const path of [`/bundles/${id}`, `/bundles/${id}/rego`]) fails(t, await named(id).get(path), 401);
	t.is((await named('hostile').get('/healthy')).status, 200, 'public endpoints are public');
});

journey('a session with a read-only key can read everything except secrets, and cannot write', async (t, place) => {
	const { schema, key } = place;
	const { http } = await signInToConsole(place, (await newKey(place, 'read')).secret);
	t.like((await http.get(consolePath)).body, { key: { access_level: 'read' } });
	t.is((await http.get(`${schema}/roles`)).status, 200);
	t.is((await http.get(`/v2/projects/default/envs/${key}/changes`)).status, 200);
	fails(t, await http.get(`/v2/api-key/default/${key}`), 403, 'read-only');
	fails(t, await http.post(`${schema}/roles`, { key: 'a', name: 'A' }), 403, 'read-only');
	fails(t, await http.patch(`/v2/projects/default/envs/${key}`, { name: 'B' }), 403);
	fails(t, await http.delete(`/v2/projects/default/envs/${key}`), 403);
	t.is(await place.revision(), 1);
});

journey('sessions for two environments in one browser do not interfere', async (t, place, management) => {
	const other = await newPlace(management, management.organization);
	const { secret } = await newKey(place, 'admin', false);
	const here = await signInToConsole(place, secret);
	const { url } = management;
	const switched = await here.http.post(consolePath, { project: 'default', environment: other.key });
	t.is(switched.status, 200);
	t.like(switched.body, { environment: { key: other.key }, key: { object_type: 'org' } });
	const there = signedWith(url, other.id, cookieOf(switched));
	t.not(there.secret, here.secret);

	const cookie = `${here.cookie}; ${there.cookie}`;
	const asked = (id: string) => sending(url, { cookie, origin: url, 'x-console-environment': id });
	t.is((await asked(place.id).post(`${place.schema}/roles`, { key: 'a', name: 'A' })).status, 200);
	for (const [id, path] of [
		[place.id, other.schema],
		[place.id, `/v2/schema/${other.project_id}/${other.id}`],
		[other.id, place.schema],
	] as const) {
		fails(t, await asked(id).get(`${path}/roles`), 403, 'this session belongs to a different environment');
		fails(t, await asked(id).post(`${path}/roles`, { key: 'b', name: 'B' }), 403, 'a different environment');
	}
	fails(t, await asked(place.id).get(`/v2/api-key/default/${other.key}`), 403, 'a different environment');
	fails(t, await asked(place.id).delete(`/v2/projects/default/envs/${other.key}`), 403, 'a different environment');
	const body = { project_id: 'default', environment_id: other.key };
	fails(t, await asked(place.id).post('/v2/api-key', body), 403, 'a different environment');
	fails(t, await asked(place.id).delete(`/v2/api-key/${other.key_id}`), 403);
	const listed = (await asked(place.id).get<{ data: Loose[] }>('/v2/api-key?per_page=100')).body.data;
	t.deepEqual(new Set(listed.map((one) => one['environment_id'])), new Set([null, place.id]));
	t.is(await other.revision(), 1);
	const target = { target_env: { existing: other.key }, conflict_strategy: 'overwrite' };
	const copied = await asked(place.id).post(`/v2/projects/default/envs/${place.key}/copy`, target);
	t.is(copied.status, 201, 'a copy may target a different environment');
	t.is((await asked(other.id).get(`${other.schema}/roles/a`)).status, 200);
	// For objects above the environment, the key's permissions apply.
	t.is((await asked(place.id).get('/v2/projects/default/envs?per_page=100')).status, 200);
	// A valid secret is not accepted under the cookie name of a different environment.
	const crossed = { cookie: `regolith_console_${other.id}=${here.secret}`, 'x-console-environment': other.id };
	isSignedOut(t, await sending(url, crossed).get(`${other.schema}/roles`), 'SIGNED_OUT');
	for (const [one, key] of [
		[place, place.key],
		[other, other.key],
	] as const) {
		const { body } = await asked(place.id).get(`${consolePath}?project=default&environment=${key}`);
		t.is((body['environment'] as Loose)['id'], one.id);
	}
	t.is((await asked(other.id).delete(consolePath)).status, 204);
	isSignedOut(t, await asked(other.id).get(`${other.schema}/roles`), 'SIGNED_OUT');
	t.is((await asked(place.id).get(`${place.schema}/roles`)).status, 200);
});

journey('a session can switch only to environments that its key can access', async (t, place, management) => {
	const other = await newPlace(management, management.organization);
	const { http } = await signInToConsole(place, place.secret);
	const target = { project: 'default', environment: other.key };
	fails(t, await http.post(consolePath, target), 403, other.key);
	fails(t, await http.post(consolePath, { project: 'default', environment: 'nowhere' }), 404);
	const stranger = await newOrganization(management, `${place.key}-stranger`);
	await stranger.http.post('/v2/projects', { key: 'default', name: 'Default', initial_environments: [] });
	const theirs = await newPlace(management, stranger.http, 'default', place.key);
	const path = `/v2/schema/${theirs.project_id}/${theirs.id}/roles`;
	fails(t, await http.get(path), 404);
	fails(t, await http.post(path, { key: 'a', name: 'A' }), 404);
	fails(t, await http.post(consolePath, { project: theirs.project_id, environment: theirs.id }), 404);
	isSignedOut(t, await askToSignIn(place, target), 'SIGNED_OUT');
	const { status, body } = await http.post(consolePath, { project: 'default', environment: place.key });
	t.like({ status, body }, { status: 200, body: { environment: { id: place.id } } });
	t.is((await rowsIn(place)).length, 1, 'the cookie’s session has ended');
});

journey('signing out ends the session and deletes the cookie', async (t, place) => {
	const { id, secret, schema, url } = place;
	const { http, headers } = await signInToConsole(place, secret);
	const answer = await http.delete(consolePath);
	t.is(answer.status, 204);
	t.is(answer.headers.get('set-cookie'), `regolith_console_${id}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict`);
	isSignedOut(t, await http.get(`${schema}/roles`), 'SIGNED_OUT');
	isSignedOut(t, await http.get(consolePath), 'SIGNED_OUT');
	t.is((await rowsIn(place)).length, 0);
	t.is((await http.delete(consolePath)).status, 204, 'a repeated sign-out is harmless');
	const { 'x-console-environment': _, ...unnamed } = headers;
	isSignedOut(t, await sending(url, unnamed).delete(consolePath), 'SIGNED_OUT');
});

journey('a session ends after eight hours without use, and polling does not count as use', async (t, place) => {
	const { secret, schema } = place;
	const { http } = await signInToConsole(place, secret);
	await rowsIn(place).update({ last_used_at: ago(7.9 * 3_600) });
	t.is((await http.get(`${consolePath}?environment=${place.key}`)).status, 200);
	const [watched] = await rowsIn(place);
	t.true(watched?.['last_used_at'] < ago(7 * 3_600), 'polling is not recorded as use');
	t.is((await http.get(`${schema}/roles`)).status, 200);
	const [used] = await rowsIn(place);
	t.true(used?.['last_used_at'] > ago(60), 'a use is recorded');
	await rowsIn(place).update({ last_used_at: ago(-3_600) });
	t.is((await http.get(`${schema}/roles`)).status, 200, 'the clock was set back by an hour');
	t.true((await rowsIn(place))[0]?.['last_used_at'] < ago(0), 'the use is recorded with the new clock');
	await rowsIn(place).update({ last_used_at: ago(-8.1 * 3_600) });
	isSignedOut(t, await http.get(`${schema}/roles`), 'IDLE');
	await rowsIn(place).update({ last_used_at: ago(8 * 3_600) });
	isSignedOut(t, await http.get(`${schema}/roles`), 'IDLE');
	isSignedOut(t, await http.get(`${consolePath}?environment=${place.key}`), 'IDLE');
	await place.store.forgetOld();
	isSignedOut(t, await http.get(consolePath), 'IDLE', 'the reason is kept for a day');
	await rowsIn(place).update({ last_used_at: ago(33 * 3_600) });
	await place.store.forgetOld();
	t.is((await rowsIn(place)).length, 0);
	isSignedOut(t, await http.get(consolePath), 'SIGNED_OUT');
});

journey('an old session secret is replaced, and the previous secret stays valid for a minute', async (t, place) => {
	const { secret, schema, url, id } = place;
	const first = await signInToConsole(place, secret);
	const roles = `${schema}/roles`;
	t.is((await first.http.get(roles)).headers.get('set-cookie'), null, 'a recent secret remains');
	await rowsIn(place).update({ rotated_at: ago(301) });
	fails(t, await first.http.get(`${roles}/nothing`), 404);
	const answers = await Promise.all(Array.from({ length: 8 }, () => first.http.get(roles)));
	t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
	const given = answers.filter(({ headers }) => headers.get('set-cookie') !== null);
	t.is(given.length, 1, 'only one of several concurrent requests replaces the secret');
	t.is(given[0]?.headers.get('cache-control'), 'no-store');
	const second = signedWith(url, id, cookieOf(given[0] ?? answers[0] ?? (await first.http.get(roles))));
	t.not(second.secret, first.secret);
	t.is((await first.http.get(roles)).status, 200, 'a request in progress does not fail');
	t.is((await first.http.get(roles)).headers.get('set-cookie'), null);

	// The response may get lost. In that case, the browser continues with its current secret, and gets a new secret
	// later.
	await rowsIn(place).update({ rotated_at: ago(61) });
	const third = signedWith(url, id, cookieOf(await first.http.get(roles)));
	t.regex(third.secret, /^[\w-]{43}$/);
	isSignedOut(t, await second.http.get(roles), 'SIGNED_OUT', 'the lost secret');

	t.is((await third.http.get(roles)).status, 200, 'the new secret has arrived');
	t.is((await first.http.get(roles)).status, 200, 'the previous secret is valid for a minute');
	await rowsIn(place).update({ previous_until: ago(0.001) });
	isSignedOut(t, await first.http.get(roles), 'SIGNED_OUT');
	t.is((await third.http.get(roles)).status, 200);
	t.is((await rowsIn(place)).length, 1);
});

journey('revoking or rotating the key ends its sessions with the reason', async (t, place, { organization }) => {
	const { schema } = place;
	for (const [code, end] of [
		['API_KEY_REVOKED', (id: string) => organization.delete(`/v2/api-key/${id}`)],
		['API_KEY_ROTATED', (id: string) => organization.post(`/v2/api-key/${id}/rotate-secret`)],
	] as const) {
		const key = await newKey(place, 'admin');
		const { http } = await signInToConsole(place, key.secret);
		t.true((await end(key.id)).status < 300, code);
		isSignedOut(t, await http.get(`${schema}/roles`), code);
		isSignedOut(t, await http.post(`${schema}/roles`, { key: 'a', name: 'A' }), code);
		isSignedOut(t, await http.get(`${consolePath}?project=default&environment=${place.key}`), code);
		isSignedOut(t, await http.post(consolePath, { project: 'default', environment: place.key }), code);
	}
	t.is(await place.revision(), 1);
});

journey('deleting an environment ends its sessions', async (t, place, { organization }) => {
	const key = await newKey(place, 'admin', false);
	const { http } = await signInToConsole(place, key.secret);
	t.is((await organization.delete(`/v2/projects/default/envs/${place.key}`)).status, 204);
	t.is((await rowsIn(place)).length, 0);
	isSignedOut(t, await http.get('/v2/projects'), 'ENVIRONMENT_DELETED');
	isSignedOut(t, await http.get(`${consolePath}?environment=${place.id}`), 'ENVIRONMENT_DELETED');
	isSignedOut(t, await http.post(consolePath, { project: 'default', environment: 'dev' }), 'ENVIRONMENT_DELETED');
	const stranger = sending(place.url, { 'x-console-environment': place.id });
	isSignedOut(t, await stranger.get('/v2/projects'), 'SIGNED_OUT', 'strangers do not learn the reason');
});

journey('only the newest hundred sessions of a key are kept', async (t, place) => {
	const first = await signInToConsole(place, place.secret);
	for (let made = 0; made < 100; made += 20) {
		await Promise.all(Array.from({ length: 20 }, () => signInToConsole(place, place.secret)));
	}
	const last = await signInToConsole(place, place.secret);
	t.is((await rowsIn(place)).length, 100);
	isSignedOut(t, await first.http.get(`${place.schema}/roles`), 'SIGNED_OUT');
	t.is((await last.http.get(`${place.schema}/roles`)).status, 200);
});
