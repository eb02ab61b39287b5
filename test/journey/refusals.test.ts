// @alone @long @rest

import test, { type ExecutionContext } from 'ava';
import { decisionEndpoints } from '../../src/pdp/endpoint/decision-endpoints.js';
import { listingEndpoints } from '../../src/pdp/endpoint/listing-endpoints.js';
import { acme, policyWasm, snapshot } from '../pdp/environment.js';
import { serve } from '../pdp/served.js';
import { type Body, bodies } from '../support/bodies.js';
import { type Client, client } from '../support/client.js';
import { fails, problemPlaces } from '../support/failure.js';
import { decisionBodies, type HostileBody, hostileBodies, shapes } from '../support/hostile-bodies.js';
import { createSecret, type Management, newPlace, startManagement } from '../support/management.js';
import { endpointPath, keyedEndpoints as endpoints, furnish } from '../support/tour.js';

/** Hostile bodies to every endpoint on both servers cause neither unbounded responses nor damage. */

/**
 * Body size in bytes: more than the server parses in a single step. For larger bodies, the cost of errors does not
 * grow. `bench/refusals` measures 5 MiB of every shape.
 */
const bytes = 96 * 1024;

/** Shapes that reach validation. The parser tests cover all other shapes. */
const seen = [
	'empty objects',
	'texts',
	'infinite numbers',
	'wide, with invalid keys',
	'a long name',
	'a long text',
].map((shape): readonly [string, string] => [shape, shapes[shape]?.(bytes) ?? '']);
const maxFailureBytes = 64 * 1024;
const maxProblems = 20;

let management: Management;

test.before(async () => {
	await policyWasm(acme);
	management = await startManagement('server');
});

test.after.always(() => management.stop());

/** Sends a body and checks the response. Returns true if the body was rejected. */
async function refused(
	t: ExecutionContext,
	http: Client,
	{ name, method }: { readonly name: string; readonly method: string },
	path: string,
	{ what, text }: HostileBody,
): Promise<boolean> {
	const answer = await http.send(method.toUpperCase(), path, undefined, { raw: text });
	const { status, body } = answer;
	const shown = `${name}: ${what}: ${status}`;
	if (status >= 500) t.fail(`${shown} ${JSON.stringify(body).slice(0, 300)}`);
	if (status < 400) return false;
	const length = Buffer.byteLength(JSON.stringify(body));
	if (length > maxFailureBytes) t.fail(`${shown} with ${length} bytes`);
	const { detail } = body as { readonly detail?: unknown };
	if (Array.isArray(detail) && detail.length > maxProblems) t.fail(`${shown} with ${detail.length} problems`);
	return true;
}

type Visited = { readonly name: string; readonly method: string; readonly body?: unknown };

async function attack(
	t: ExecutionContext,
	http: Client,
	visited: readonly Visited[],
	table: Readonly<Record<string, Body>>,
	pathTo: (endpoint: Visited) => string,
): Promise<void> {
	const withBody = visited.filter(({ body }) => body !== undefined);
	t.deepEqual(
		withBody.filter(({ name }) => table[name] === undefined),
		[],
		'every endpoint with a body is in the table',
	);
	let count = 0;
	for (const endpoint of withBody) {
		const body = table[endpoint.name];
		if (body === undefined) continue;
		for (const hostile of hostileBodies(body, new Map(seen))) {
			if (await refused(t, http, endpoint, pathTo(endpoint), hostile)) count += 1;
		}
	}
	t.true(count > 100, `${count} were refused`);
}

/** Unreadable bodies. Callers without access do not learn that a body is unreadable. */
const unreadable = ['{', '['.repeat(200), '"\\ud800"', `"${'x'.repeat(6_000_000)}"`];

test('a caller without access is rejected for any body: the management API', async (t) => {
	const place = await newPlace(management, management.project);
	const { organization_id, project_id, id: environment_id, store, url } = place;
	const opened = { project_id, environment_id, access_level: 'read' } as const;
	const reader = client(url, await createSecret(store, organization_id, opened));
	const stranger = client(url, `permit_key_${'x'.repeat(89)}`);
	const writes = ['environment.write', 'environment.manage', 'project.write', 'organization.write', 'keys.manage'];
	for (const endpoint of endpoints.filter(({ body }) => body !== undefined)) {
		const path = endpointPath(endpoint, place);
		const method = endpoint.method.toUpperCase();
		for (const raw of unreadable.slice(0, -1)) {
			fails(t, await client(url).send(method, path, undefined, { raw }), 401);
			fails(t, await stranger.send(method, path, undefined, { raw }), 401);
			if (writes.includes(endpoint.access)) fails(t, await reader.send(method, path, undefined, { raw }), 403);
		}
	}
	for (const raw of unreadable) {
		fails(t, await stranger.send('POST', `${place.facts}/users`, undefined, { raw }), 401);
		fails(t, await reader.send('POST', `${place.facts}/users`, undefined, { raw }), 403);
		const nowhere = `/v2/facts/${place.project}/nowhere/users`;
		fails(t, await management.organization.send('POST', nowhere, undefined, { raw }), 404);
	}
});

test('a caller without access is rejected for any body: a decision point', async (t) => {
	const { feed, replica, url } = await serve(t);
	feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: acme }) });
	await replica.reached(7);
	for (const { path } of [...decisionEndpoints('edge'), ...listingEndpoints('edge')].filter(({ body }) => body)) {
		for (const raw of unreadable) {
			t.is((await client(url).post(path, undefined, { raw })).status, 401, path);
			t.is((await client(url, 'another key').post(path, undefined, { raw })).status, 403, path);
		}
	}
});

test('a lone surrogate is rejected with its location, in any body: the management API', async (t) => {
	const place = await newPlace(management, management.project);
	await furnish(place);
	for (const endpoint of endpoints.filter(({ body }) => body !== undefined)) {
		const [method, path] = [endpoint.method.toUpperCase(), endpointPath(endpoint, place)];
		for (const [raw, at] of [
			['{"unknown":["\\ud800"]}', 'body.unknown.0'],
			['{"\\udc00":1}', 'body.\udc00'],
		] as const) {
			// Endpoints that accept only an environment's own key refuse organization keys before they read the body.
			const own = ['environment.own', 'environment.report', 'environment.sign_in'].includes(endpoint.access);
			const asker = own ? place.http : management.organization;
			const answer = await asker.send(method, path, undefined, { raw });
			fails(t, answer, 422, 'lone surrogate');
			t.deepEqual(problemPlaces(answer), [at], endpoint.name);
		}
	}
	const listed = await place.http.get(`${place.facts}/users?search=%ED%A0%80`);
	fails(t, listed, 422, 'UTF-8');
	t.deepEqual(problemPlaces(listed), ['query.search']);
});

test('a lone surrogate is rejected with its location, in any body: a decision point', async (t) => {
	const { http, feed, replica } = await serve(t);
	feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: acme }) });
	await replica.reached(7);
	const check = (user: string) => `{"user":${user},"action":"read","resource":"document"}`;
	for (const [raw, at] of [
		[check('"\\ud800"'), 'body.user'],
		[check('{"key":"\\uDBFFx"}'), 'body.user.key'],
		[check('{"key":"ann","attributes":{"a":[{"\\udfff":1}]}}'), 'body.user.attributes.a.0.\udfff'],
	] as const) {
		const answer = await http.post('/allowed', undefined, { raw });
		t.is(answer.status, 422);
		t.deepEqual(problemPlaces(answer), [at]);
		const many = await http.post('/allowed/bulk', undefined, { raw: `[${check('"ann"')},${raw}]` });
		t.deepEqual(problemPlaces(many), [at.replace('body', 'body.1')]);
	}
	t.is((await http.post('/allowed', undefined, { raw: check('"\\ud83d\\ude00"') })).status, 200);
	const listed = await http.get('/local/role_assignments?user=%ED%A0%80');
	t.is(listed.status, 422);
	t.deepEqual(problemPlaces(listed), ['query.user']);
});

test('a management API error has a limited size for any body', async (t) => {
	const place = await newPlace(management, management.project);
	await furnish(place);
	const paths = new Map(endpoints.map((endpoint) => [endpoint.name, endpointPath(endpoint, place)]));
	t.timeout(600_000, 'every endpoint gets hundreds of requests');
	await attack(t, management.organization, endpoints, bodies, ({ name }) => paths.get(name) ?? '');
});

test('a decision point error has a limited size for any body', async (t) => {
	const { http, feed, replica } = await serve(t);
	feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: acme }) });
	await replica.reached(7);
	const table = [...decisionEndpoints('edge'), ...listingEndpoints('edge')];
	const paths = new Map(table.map(({ name, path }) => [name, path]));
	t.timeout(600_000, 'every endpoint gets hundreds of requests');
	await attack(t, http, table, decisionBodies, ({ name }) => paths.get(name) ?? '');
});
