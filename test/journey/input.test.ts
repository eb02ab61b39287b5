import fc from 'fast-check';
import { endpoints } from '../../src/api/table.js';
import { bodies, type Body, hugeNumber, type Kind, wrongFor } from '../support/bodies.js';
import { type Answer, type Client, client } from '../support/client.js';
import { type Journey, onEachStore } from '../support/each-store.js';
import { complaint, fails, problemPlaces } from '../support/failure.js';
import { type Management, newOrganization, newPlace, type Place, secretOf } from '../support/management.js';

/** Bad input, at every endpoint: the documented status and body, no 5xx, and nothing changed (contract: Errors). */

const journey = onEachStore();

/** What the parameters of paths stand for in an environment that `furnish` filled. */
const names = {
	resource_id: 'document',
	action_id: 'read',
	attribute_id: 'private',
	role_id: 'editor',
	user_id: 'alice@example.com',
	tenant_id: 'acme',
};

async function furnish({ http, schema, facts }: Place): Promise<void> {
	const [actions, attributes] = [{ read: {}, write: {} }, { private: { type: 'bool' } }];
	await http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions, attributes });
	await http.post(`${schema}/roles`, { key: 'editor', name: 'Editor', permissions: ['document:read'] });
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	await http.post(`${facts}/users`, { key: 'alice@example.com' });
}

type Listed = (typeof endpoints)[number];

/** The path of an endpoint in a place, with some parameters standing for something else. */
function pathOf(endpoint: Listed, place: Place, other: Readonly<Record<string, string>> = {}): string {
	const values: Readonly<Record<string, string>> = { ...names, proj_id: place.project, env_id: place.key, ...other };
	return endpoint.path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? `no ${name}`);
}

const parametersOf = (endpoint: Listed) => [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
const write = (endpoint: Listed) => endpoint.method !== 'get';
const keyed = endpoints.filter((endpoint) => endpoint.access !== 'public');
const withBody = endpoints.filter((endpoint) => endpoint.body !== undefined);

function send(http: Client, endpoint: Listed, path: string, body?: unknown): Promise<Answer<unknown>> {
	if (body === undefined) return http.send(endpoint.method.toUpperCase(), path);
	const raw = JSON.stringify(body).replaceAll(`"${hugeNumber}"`, '1e999');
	return http.send(endpoint.method.toUpperCase(), path, undefined, { raw });
}

/** Everything the store holds of what the API can change, as text. */
async function everything({ store }: Management): Promise<string> {
	const { knex } = store.database;
	const projects = await knex('projects').orderBy('id');
	const environments = await knex('environments').orderBy('id');
	return JSON.stringify([projects, environments, await knex('api_keys').orderBy('id').select('id')]);
}

const turns = new Map<Management, Promise<void>>();

/** Declares a test that has the store for itself: the tests of one store follow each other. */
function alone(title: string, run: Journey): void {
	journey(title, async (t, place, management) => {
		const next = (turns.get(management) ?? Promise.resolve()).then(async () => {
			await furnish(place);
			await run(t, place, management);
		});
		turns.set(
			management,
			next.catch(() => undefined),
		);
		await next;
	});
}

/** Declares a test of input that is refused: nothing in the store may be another than before. */
function harmless(title: string, run: Journey): void {
	alone(title, async (t, place, management) => {
		const before = await everything(management);
		await run(t, place, management);
		t.is(await everything(management), before, 'nothing changed');
	});
}

journey('the table of bodies is complete', async (t) => {
	t.deepEqual(withBody.map(({ name }) => name).sort(), Object.keys(bodies).sort());
});

/** A body of an endpoint with one field said otherwise, or left out when `undefined`. */
function bodyWith({ base, many }: Body, field: string, value: unknown): unknown {
	const body = { ...base, [field]: value };
	return many ? [base, body] : body;
}

const placeOf = ({ many }: Body, field: string) => (many ? `body.1.${field}` : `body.${field}`);

harmless('a field of the wrong kind is refused by its name', async (t, place, { organization }) => {
	for (const endpoint of withBody) {
		const body = bodies[endpoint.name];
		if (body === undefined) continue;
		for (const [field, kind] of Object.entries(body.fields)) {
			const required = kind.endsWith('!');
			const wrong = [...wrongFor[kind.replace('!', '') as Kind], ...(required ? [null, undefined] : [])];
			for (const value of wrong) {
				const answer = await send(organization, endpoint, pathOf(endpoint, place), bodyWith(body, field, value));
				const what = `${endpoint.name}.${field} = ${JSON.stringify(value)?.slice(0, 60)}`;
				t.is(answer.status, 422, `${what}: ${JSON.stringify(answer.body)}`);
				t.is(complaint(answer), null, what);
				const at = placeOf(body, field);
				t.true(problemPlaces(answer).every((step) => step === at || step.startsWith(`${at}.`)), `${what}: ${problemPlaces(answer)}`);
			}
		}
	}
});

alone('null is absence where a field may be absent, and unknown fields are ignored', async (t, place, { organization }) => {
	const strange = { unknown: { a: [1] }, constructor: {}, toString: 1, hasOwnProperty: null, environment_id: 'x', id: 'x' };
	for (const endpoint of withBody) {
		const body = bodies[endpoint.name];
		if (body === undefined) continue;
		const optional = Object.entries(body.fields).filter(([, kind]) => !kind.endsWith('!'));
		const nulls = Object.fromEntries(optional.map(([field]) => [field, null]));
		// Creates are sent twice, so the second time they may find what the first one made.
		for (const more of [nulls, strange]) {
			const item = { ...body.base, ...nulls, ...more };
			const answer = await send(organization, endpoint, pathOf(endpoint, place), body.many ? [item] : item);
			t.true([200, 201, 204, 404, 409].includes(answer.status), `${endpoint.name}: ${JSON.stringify(answer.body)}`);
			t.true(answer.status < 400 || complaint(answer) === null);
		}
	}
});

const malformed = ['{', '{"a":}', '{"a":1}}', "{'a':1}", '{"a":1,}', 'undefined', 'NaN', '\0', '"\u0001"', '[1', '{"a":"\\x"}'];

harmless('a body that is no JSON, or not the right JSON, is refused', async (t, place, { organization }) => {
	for (const endpoint of withBody) {
		const path = pathOf(endpoint, place);
		const method = endpoint.method.toUpperCase();
		for (const raw of malformed) {
			fails(t, await organization.send(method, path, undefined, { raw }), 400, 'JSON');
		}
		for (const body of [null, 5, 'text', true, bodies[endpoint.name]?.many ? {} : [], bodies[endpoint.name]?.many ? [null] : [{}]]) {
			const answer = await send(organization, endpoint, path, body);
			fails(t, answer, 422);
			t.true(problemPlaces(answer).every((at) => at.startsWith('body')), endpoint.name);
		}
		const missing = await organization.send(method, path);
		fails(t, missing, 422);
		t.deepEqual(problemPlaces(missing), ['body'], endpoint.name);
	}
});

harmless('a member called `__proto__` is refused, wherever it is', async (t, place, { organization }) => {
	for (const endpoint of withBody) {
		for (const raw of ['{"__proto__":{"admin":true}}', '[{"a":{"__proto__":1}}]', '{"attributes":{"\\u005f_proto__":null}}']) {
			fails(t, await organization.send(endpoint.method.toUpperCase(), pathOf(endpoint, place), undefined, { raw }), 400, 'prototype');
		}
	}
});

harmless('a body that is too large or too deep is refused', async (t, place, { organization }) => {
	const huge = JSON.stringify({ key: 'new', name: 'x'.repeat(10_000_000) });
	const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
	for (const endpoint of withBody) {
		const path = pathOf(endpoint, place);
		const method = endpoint.method.toUpperCase();
		fails(t, await organization.send(method, path, undefined, { raw: huge }), 413, '5242880');
		for (const raw of [deep(102), deep(10_000), `${'['.repeat(5000)}${']'.repeat(5000)}`]) {
			fails(t, await organization.send(method, path, undefined, { raw }), 400, 'deep');
		}
	}
	fails(t, await organization.send('POST', `${place.facts}/tenants`, undefined, { raw: '['.repeat(5_000_000) }), 400, 'JSON');
	const inside = `{"key":"new","name":"New","attributes":${deep(101)}}`;
	fails(t, await organization.send('POST', `${place.facts}/tenants`, undefined, { raw: inside }), 400, 'deep');
});

harmless('without a known key, or with one that opens something else, nothing is done', async (t, place, management) => {
	const { url, store } = management;
	const stranger = await newPlace(management, management.organization);
	const elsewhere = await newOrganization(management, place.key);
	const own = { organization: place.organization_id, project: place.project_id, environment: place.id };
	const reader = client(url, await secretOf(store, own.organization, { project_id: own.project, environment_id: own.environment, access_level: 'read' }));
	const nobody = client(url, await secretOf(store, own.organization, { access_level: 'no_access' }));
	for (const endpoint of keyed) {
		const path = pathOf(endpoint, place);
		const body = bodies[endpoint.name];
		const right = body && (body.many ? [body.base] : body.base);
		fails(t, await send(client(url), endpoint, path, right), 401);
		for (const key of ['x', place.secret.slice(0, -1), `${place.secret}0`, place.id, "' or true--"]) {
			fails(t, await send(client(url, key), endpoint, path, right), 401);
		}
		fails(t, await send(nobody, endpoint, path, right), 403);
		if (write(endpoint)) fails(t, await send(reader, endpoint, path, right), 403);
		if (!endpoint.path.includes(':proj_id')) continue;
		fails(t, await send(elsewhere.http, endpoint, path, right), 404, place.project);
		if (endpoint.path.includes(':env_id')) fails(t, await send(stranger.http, endpoint, path, right), 403);
	}
	// Taken away again, for the comparison.
	const made = { organization_id: elsewhere.id };
	await store.database.knex('api_keys').where(made).delete();
	await store.database.knex('api_keys').where({ name: 'test' }).delete();
	await management.organization.delete(`/v2/projects/default/envs/${stranger.key}`);
});

harmless('what a path names has to be there and to be a name', async (t, place, { organization }) => {
	for (const endpoint of keyed) {
		const body = bodies[endpoint.name];
		const right = body && (body.many ? [body.base] : body.base);
		for (const parameter of parametersOf(endpoint)) {
			const at = (value: string) => pathOf(endpoint, place, { [parameter]: value });
			const makes = endpoint.name === 'syncUser' && parameter === 'user_id';
			const missing = ['nothing', '00000000-0000-4000-8000-000000000000', '0'.repeat(32), 'constructor', "'%20or%20true--", '%25'];
			for (const value of makes ? [] : missing) {
				fails(t, await send(organization, endpoint, at(value), right), 404, decodeURIComponent(value));
			}
			for (const value of ['a%00b', 'x'.repeat(1026), ...(makes ? ['a%20b', 'a:b', '__proto__'] : [])]) {
				const answer = await send(organization, endpoint, at(value), right);
				fails(t, answer, 422);
				t.deepEqual(problemPlaces(answer), [`path.${parameter}`], `${endpoint.name} ${value.slice(0, 20)}`);
			}
			for (const value of ['a%ZZ', '%', '%E0%A4%A', '%ED%A0%80', '%C0%AE']) {
				fails(t, await send(organization, endpoint, at(value), right), 400, '%');
			}
		}
	}
});

/** Wrong values by the name of a query's parameter. */
const wrongQueries: Readonly<Record<string, readonly string[]>> = {
	page: ['0', '-1', 'x', '1.5', '', '1e3', '9'.repeat(20), '1&page=2', 'NaN', '%00'],
	per_page: ['0', '-1', '101', 'x', '', '9'.repeat(20), '1&per_page=2'],
	include_total_count: ['x', '', '2', 'true&include_total_count=false'],
	include_built_in: ['x', '', '2'],
	include_resource_instance_roles: ['x', ''],
	detailed: ['x', ''],
	return_deleted: ['x', ''],
	missing_user_policy: ['x', '', 'FAIL'],
	search: ['%00', 'a%00b', 'a&search=b'],
	user: ['%00', '', 'a&user=%00'],
	role: ['%00', ''],
	tenant: ['%00', '', 'x'.repeat(1026)],
	resource: ['%00', ''],
	resource_instance: ['%00', ''],
	attr_plan: ['%00', 'a&attr_plan=b'],
};

harmless('a query that is wrong is refused by the name of its parameter', async (t, place, { organization }) => {
	const document = (await organization.get<{ paths: Paths }>('/openapi.json')).body;
	const seen = new Set<string>();
	for (const endpoint of endpoints.filter(({ query }) => query !== undefined)) {
		const operation = document.paths[endpoint.path.replace(/:(\w+)/g, '{$1}')]?.[endpoint.method];
		const declared = (operation?.parameters ?? []).filter((parameter) => parameter.in === 'query').map(({ name }) => name);
		const filtered = ['listResources', 'listResourceActions', 'listRoles', 'listTenants'].includes(endpoint.name);
		for (const name of [...declared, ...(filtered ? ['attr_plan'] : [])]) {
			seen.add(name);
			const body = bodies[endpoint.name];
			const right = body && (body.many ? [body.base] : body.base);
			t.true((wrongQueries[name]?.length ?? 0) > 0, `no wrong values for ${name}`);
			for (const value of wrongQueries[name] ?? []) {
				const answer = await send(organization, endpoint, `${pathOf(endpoint, place)}?${name}=${value}`, right);
				fails(t, answer, 422);
				t.true(problemPlaces(answer).every((at) => at.startsWith(`query.${name}`)), `${endpoint.name} ${name}=${value.slice(0, 20)}`);
			}
		}
	}
	t.deepEqual([...seen].sort(), Object.keys(wrongQueries).sort());
});

type Paths = Record<string, Record<string, { parameters?: readonly { in: string; name: string }[] }>>;

harmless('headers that are wrong do no harm', async (t, place, { organization }) => {
	const path = `${place.facts}/tenants`;
	const raw = '{"key":5}';
	const types = ['text/plain', 'application/json; charset=utf-7', 'application/json; charset=x', 'x', 'multipart/form-data; boundary=x'];
	for (const type of types) {
		fails(t, await organization.send('POST', path, undefined, { raw, headers: { 'content-type': type } }), 422, 'key');
	}
	for (const encoding of ['gzip', 'br', 'deflate', 'unknown']) {
		fails(t, await organization.send('POST', path, undefined, { raw, headers: { 'content-encoding': encoding } }), 400);
	}
});

/** Text as attackers and accidents write it. */
const text = fc.oneof(
	fc.string({ unit: 'binary' }),
	fc.constantFrom('', 'default', 'editor', 'acme', 'document', 'read', 'alice@example.com', '__proto__', 'constructor', '__user', '\0', '\ud800', '%', '*', '{', '"', '\\', 'NULL', "';--", '00000000-0000-4000-8000-000000000000'),
);
const json = fc.oneof(fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }), text, fc.constant(hugeNumber), fc.double(), fc.bigInt().map(Number));

/** A body that is nearly right, so that it gets far. */
function nearly(endpoint: Listed): fc.Arbitrary<unknown> {
	const body = bodies[endpoint.name];
	if (body === undefined) return fc.constant(undefined);
	const fields = Object.fromEntries(Object.keys(body.fields).map((field) => [field, json]));
	const item = fc.record(fields, { requiredKeys: [] }).map((changed) => ({ ...body.base, ...changed }));
	return fc.oneof({ weight: 4, arbitrary: body.many ? fc.array(item, { maxLength: 3 }) : item }, { weight: 1, arbitrary: json });
}

/** These would end the place that the others need. */
const fuzzed = endpoints.filter(({ name }) => !['deleteProject', 'deleteEnvironment'].includes(name));

const request = fc.constantFrom(...fuzzed).chain((endpoint) =>
	fc.record({
		endpoint: fc.constant(endpoint),
		params: fc.dictionary(fc.constantFrom('proj_id', 'env_id', ...Object.keys(names)), text, { maxKeys: 1 }),
		query: fc.dictionary(fc.oneof(fc.constantFrom(...Object.keys(wrongQueries)), text), fc.oneof(text, fc.constantFrom('1', 'true')), { maxKeys: 3 }),
		body: nearly(endpoint),
	}),
);

const runs = 400;

alone('whatever is asked is answered: no 5xx, every failure as documented and without effect', async (t, place, { organization }) => {
	const seed = Date.now() % 2 ** 31;
	t.log(`seed ${seed}`);
	const property = fc.asyncProperty(request, async ({ endpoint, params, query, body }) => {
		const encoded = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, encode(value)]));
		const search = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`);
		const path = `${pathOf(endpoint, place, encoded)}?${search.join('&')}`;
		const before = await place.revision();
		const answer = await send(organization, endpoint, path, body);
		const after = await place.revision();
		const shown = `${endpoint.method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`;
		if (answer.status >= 500) throw new Error(shown);
		if (answer.status < 400) return;
		const wrong = complaint(answer);
		if (wrong !== null || after !== before) throw new Error(`${wrong ?? 'it had an effect'}: ${shown}`);
	});
	await fc.assert(property, { numRuns: runs, seed });
	t.pass();
});

/** Percent-encodes any text, with halves of surrogate pairs, which URLs cannot hold, replaced. */
function encode(value: string): string {
	return encodeURIComponent(Buffer.from(value).toString()).replaceAll('.', '%2E');
}
