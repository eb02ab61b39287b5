// @alone @both @long

import test from 'ava';
import fc from 'fast-check';
import { type Body, bodies, type Kind, sentAs, wrongFor, wrongQueries } from '../support/bodies.js';
import type { Client } from '../support/client.js';
import { type Journey, onEachStore } from '../support/each-store.js';
import { complaint, fails, problemPlaces } from '../support/failure.js';
import type { Management, Place } from '../support/management.js';
import type { StoreKind } from '../support/postgres.js';
import { encode, request, send } from '../support/request.js';
import { draws, valuesOfTier } from '../support/tier.js';
import {
	endpointBody,
	endpointPath,
	endpointQuery,
	keyedEndpoints as endpoints,
	furnish,
	pathParameters,
} from '../support/tour.js';

/** Bad input to every endpoint gets the documented status and body, causes no 5xx, and changes nothing. */

// Serial, so that the store's contents before and after a test can be compared.
const journey = onEachStore({ declare: test.serial });

const keyed = endpoints.filter((endpoint) => endpoint.access !== 'public');
const withBody = endpoints.filter((endpoint) => endpoint.body !== undefined);

/** Returns organizations, projects, environments and API keys as text. A changed environment has a new revision. */
async function everything({ store }: Management): Promise<string> {
	const { knex } = store.database;
	const projects = await knex('projects').orderBy('id');
	const environments = await knex('environments').orderBy('id');
	const keys = await knex('api_keys').orderBy('id').select('id', 'secret_hash');
	return JSON.stringify([await knex('organizations').orderBy('id'), projects, environments, keys]);
}

/** Declares a test in an environment with an object of every kind. */
function furnishing(title: string, run: Journey, stores?: readonly StoreKind[]): void {
	journey(
		title,
		async (t, place, management) => {
			await furnish(place);
			await run(t, place, management);
		},
		stores,
	);
}

/** Declares a test for rejected input, which must leave the whole store unchanged. */
function harmless(title: string, run: Journey, stores?: readonly StoreKind[]): void {
	furnishing(
		title,
		async (t, place, management) => {
			const before = await everything(management);
			await run(t, place, management);
			t.is(await everything(management), before, 'nothing changed');
		},
		stores,
	);
}

/** The store for requests that are rejected before they reach a store. */
const any = ['server'] as const;

journey('the table of request bodies is complete', async (t) => {
	t.deepEqual(withBody.map(({ name }) => name).sort(), Object.keys(bodies).sort());
});

/** Returns an endpoint's body with a field replaced, or removed if `undefined`. */
function bodyWith(body: Body, field: string, value: unknown): unknown {
	const changed = { ...body.base, [field]: value };
	return sentAs(body, body.many ? [body.base, changed] : [changed]);
}

function fieldPlace({ many }: Body, field: string): string {
	if (many === undefined) return `body.${field}`;
	return many === 'bare' ? `body.1.${field}` : `body.${many}.1.${field}`;
}

/** Returns an endpoint's client. Some endpoints accept only an environment key. */
function callerOf({ access }: { readonly access: string }, place: Place, organization: Client): Client {
	return ['environment.own', 'environment.report', 'environment.sign_in'].includes(access) ? place.http : organization;
}

harmless(
	'a field with the wrong type is refused by name',
	async (t, place, { organization }) => {
		let turn = 0;
		for (const endpoint of withBody) {
			const body = bodies[endpoint.name];
			if (body === undefined || body.partial) continue;
			for (const [field, kind] of Object.entries(body.fields)) {
				const required = kind.endsWith('!');
				const wrong = [...wrongFor[kind.replace('!', '') as Kind], ...(required ? [null, undefined] : [])];
				turn += 1;
				for (const value of valuesOfTier(wrong, turn)) {
					const caller = callerOf(endpoint, place, organization);
					const answer = await send(caller, endpoint, endpointPath(endpoint, place), bodyWith(body, field, value));
					const what = `${endpoint.name}.${field} = ${JSON.stringify(value)?.slice(0, 60)}`;
					t.is(answer.status, 422, `${what}: ${JSON.stringify(answer.body)}`);
					t.is(complaint(answer), null, what);
					const at = fieldPlace(body, field);
					t.true(
						problemPlaces(answer).every((step) => step === at || step.startsWith(`${at}.`)),
						`${what}: ${problemPlaces(answer)}`,
					);
				}
			}
		}
	},
	any,
);

furnishing(
	'null means absent for optional fields, and unknown fields are ignored unless the body grants access',
	async (t, place, { organization }) => {
		const strange = {
			unknown: { a: [1] },
			constructor: {},
			toString: 1,
			hasOwnProperty: null,
			environment_id: 'x',
			id: 'x',
		};
		for (const endpoint of withBody) {
			const body = bodies[endpoint.name];
			if (body === undefined) continue;
			const optional = Object.entries(body.fields).filter(([, kind]) => !kind.endsWith('!'));
			const nulls = Object.fromEntries(optional.map(([field]) => [field, null]));
			// Each body is sent twice, so the second request may find the object created by the first.
			const echoed = { id: 'x', environment_id: 'x', created_at: 5, updated_at: 'x', expires_at: null };
			for (const more of body.grants ? [nulls, echoed] : body.strict ? [nulls] : [nulls, strange]) {
				const item = { ...body.base, ...nulls, ...more };
				const answer = await send(
					callerOf(endpoint, place, organization),
					endpoint,
					endpointPath(endpoint, place),
					sentAs(body, [item]),
				);
				const allowed = [200, 201, 202, 204, 404, 409, ...Object.keys(endpoint.failures ?? {}).map(Number)];
				t.true(allowed.includes(answer.status), `${endpoint.name}: ${JSON.stringify(answer.body)}`);
				t.true(answer.status < 400 || complaint(answer) === null);
			}
		}
	},
);

harmless(
	'unknown fields in a body that grants access are rejected by name',
	async (t, place, { organization }) => {
		for (const endpoint of withBody) {
			const body = bodies[endpoint.name];
			if (!body?.grants) continue;
			for (const name of ['expires_at', 'condition', 'when', 'valid_until', 'constructor', 'no_such_member']) {
				if (name in body.fields) continue;
				for (const value of ['2030-01-01T00:00:00Z', { 'user.age': { equals: 1 } }, 0, false, [], '']) {
					const answer = await send(organization, endpoint, endpointPath(endpoint, place), bodyWith(body, name, value));
					fails(t, answer, 422, 'would have no effect');
					t.deepEqual(problemPlaces(answer), [fieldPlace(body, name)], endpoint.name);
				}
			}
		}
	},
	any,
);

furnishing(
	'a grant can be deleted and recreated with all fields from a read',
	async (t, place, { organization }) => {
		const undo: Readonly<Record<string, string>> = {
			createRoleAssignment: 'deleteRoleAssignment',
			assignRoleToUser: 'unassignRoleFromUser',
			createRelationshipTuple: 'deleteRelationshipTuple',
			createImplicitGrant: 'deleteImplicitGrant',
			createSetRule: 'deleteSetRule',
			assignPermissionsToRole: 'removePermissionsFromRole',
		};
		for (const [name, undoing] of Object.entries(undo)) {
			const [endpoint, undone] = [name, undoing].map((wanted) => withBody.find((one) => one.name === wanted));
			if (endpoint === undefined || undone === undefined) return t.fail(name);
			const path = endpointPath(endpoint, place);
			const made = await send(organization, endpoint, path, endpointBody(endpoint));
			t.is(made.status, 200, name);
			const read: unknown = Array.isArray(made.body) ? made.body[0] : made.body;
			await send(organization, undone, path, endpointBody(endpoint));
			const again = await send(organization, endpoint, path, {
				...(endpointBody(endpoint) as object),
				...(read as object),
			});
			t.is(again.status, 200, `${name}: ${JSON.stringify(again.body)}`);
		}
	},
	['server'],
);

const malformed = [
	'{',
	'{"a":}',
	'{"a":1}}',
	"{'a':1}",
	'{"a":1,}',
	'undefined',
	'NaN',
	'\0',
	'"\u0001"',
	'[1',
	'{"a":"\\x"}',
];

harmless(
	'a body that is not JSON, or not the expected JSON, is refused',
	async (t, place, { organization }) => {
		for (const [turn, endpoint] of withBody.entries()) {
			const path = endpointPath(endpoint, place);
			const caller = callerOf(endpoint, place, organization);
			const method = endpoint.method.toUpperCase();
			for (const raw of valuesOfTier(malformed, turn)) {
				fails(t, await caller.send(method, path, undefined, { raw }), 400, 'JSON');
			}
			const isMany = bodies[endpoint.name]?.many !== undefined;
			for (const body of valuesOfTier([null, 5, 'text', true, isMany ? {} : [], isMany ? [null] : [{}]], turn)) {
				const answer = await send(caller, endpoint, path, body);
				fails(t, answer, 422);
				t.true(
					problemPlaces(answer).every((at) => at.startsWith('body')),
					endpoint.name,
				);
			}
			if (endpoint.body?.safeParse(undefined).success) continue;
			const missing = await caller.send(method, path);
			fails(t, missing, 422);
			t.deepEqual(problemPlaces(missing), ['body'], endpoint.name);
		}
	},
	any,
);

harmless(
	'`__proto__` is rejected as a name in a map, and is never read as a field',
	async (t, place, { organization }) => {
		const named: unknown = JSON.parse('{"__proto__":{"admin":true}}');
		for (const endpoint of withBody) {
			const body = bodies[endpoint.name];
			if (body === undefined || body.partial) continue;
			const path = endpointPath(endpoint, place);
			const caller = callerOf(endpoint, place, organization);
			for (const [field, kind] of Object.entries(body.fields)) {
				if (!/^(object|actions|attributes|relations|roles)!?$/.test(kind)) continue;
				const answer = await send(caller, endpoint, path, bodyWith(body, field, named));
				fails(t, answer, 422, 'is a reserved name');
				t.deepEqual(problemPlaces(answer), [`${fieldPlace(body, field)}.__proto__`], endpoint.name);
				if (kind !== 'object') continue;
				const inside = await send(caller, endpoint, path, bodyWith(body, field, { a: [named] }));
				fails(t, inside, 422, 'is a reserved name');
				t.deepEqual(problemPlaces(inside), [`${fieldPlace(body, field)}.a.0.__proto__`], endpoint.name);
			}
			const needed = Object.keys(body.fields).filter((field) => body.fields[field]?.endsWith('!'));
			if (needed.length === 0) continue;
			const nothing = await send(caller, endpoint, path, sentAs(body, body.many ? [body.base, named] : [named]));
			fails(t, nothing, 422, 'field required');
			const places = [...needed, ...(body.strict ? ['__proto__'] : [])].map((field) => fieldPlace(body, field));
			t.deepEqual([...problemPlaces(nothing)].sort(), places.sort(), endpoint.name);
		}
	},
	any,
);

harmless(
	'a body that is too large, too deep or too wide is refused',
	async (t, place, { organization }) => {
		const huge = JSON.stringify({ key: 'new', name: 'x'.repeat(10_000_000) });
		const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 16_385 }, (_, index) => [`k${index}`, 0])));
		const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
		for (const [turn, endpoint] of withBody.entries()) {
			const path = endpointPath(endpoint, place);
			const caller = callerOf(endpoint, place, organization);
			const most = endpoint.largeBody?.bytes ?? 5_242_880;
			const refused = [
				...(huge.length > most ? [[huge, 413, String(most)] as const] : []),
				[deep(102), 400, 'deep'],
				[wide, 413, 'at most 16384 members'],
				[deep(10_000), 400, 'deep'],
				[`${'['.repeat(5000)}${']'.repeat(5000)}`, 400, 'deep'],
			] as const;
			for (const [raw, status, message] of valuesOfTier(refused, turn)) {
				fails(t, await caller.send(endpoint.method.toUpperCase(), path, undefined, { raw }), status, message);
			}
		}
		fails(
			t,
			await organization.send('POST', `${place.facts}/tenants`, undefined, { raw: '['.repeat(5_000_000) }),
			400,
			'deep',
		);
		const inside = `{"key":"new","name":"New","attributes":${deep(101)}}`;
		fails(t, await organization.send('POST', `${place.facts}/tenants`, undefined, { raw: inside }), 400, 'deep');
	},
	any,
);

harmless('names in a path must be valid and exist', async (t, place, { organization }) => {
	let turn = 0;
	for (const endpoint of keyed) {
		const right = endpointBody(endpoint);
		for (const parameter of pathParameters(endpoint)) {
			const at = (value: string) => endpointPath(endpoint, place, { [parameter]: value });
			const makes = endpoint.name === 'syncUser' && parameter === 'user_id';
			turn += 1;
			const missing = [
				'nothing',
				'00000000-0000-4000-8000-000000000000',
				'0'.repeat(32),
				'constructor',
				"'%20or%20true--",
				'%25',
			];
			for (const value of makes ? [] : valuesOfTier(missing, turn)) {
				fails(t, await send(organization, endpoint, at(value), right), 404, decodeURIComponent(value));
			}
			const invalid = ['a%00b', 'x'.repeat(1026), ...(makes ? ['a%20b', 'a:b', '__proto__'] : [])];
			for (const value of valuesOfTier(invalid, turn)) {
				const answer = await send(organization, endpoint, at(value), right);
				fails(t, answer, 422);
				t.deepEqual(problemPlaces(answer), [`path.${parameter}`], `${endpoint.name} ${value.slice(0, 20)}`);
			}
			for (const value of valuesOfTier(['a%ZZ', '%', '%E0%A4%A', '%ED%A0%80', '%C0%AE'], turn)) {
				fails(t, await send(organization, endpoint, at(value), right), 400, '%');
			}
		}
	}
});

harmless('an invalid query is refused with the name of its parameter', async (t, place, { organization }) => {
	const document = (await organization.get<{ paths: Paths }>('/openapi.json')).body;
	const seen = new Set<string>();
	let turn = 0;
	for (const endpoint of endpoints.filter(({ query }) => query !== undefined)) {
		const operation = document.paths[endpoint.path.replace(/:(\w+)/g, '{$1}')]?.[endpoint.method];
		const declared = (operation?.parameters ?? [])
			.filter((parameter) => parameter.in === 'query')
			.map(({ name }) => name);
		const filtered = [
			'listResources',
			'listResourceActions',
			'listResourceActionGroups',
			'listRoles',
			'listTenants',
		].includes(endpoint.name);
		for (const name of [...declared, ...(filtered ? ['attr_plan'] : [])]) {
			seen.add(name);
			turn += 1;
			const right = endpointBody(endpoint);
			t.true((wrongQueries[name]?.length ?? 0) > 0, `no wrong values for ${name}`);
			for (const value of valuesOfTier(wrongQueries[name] ?? [], turn)) {
				const query = endpointQuery(endpoint, `${name}=${value}`);
				const answer = await send(organization, endpoint, endpointPath(endpoint, place) + query, right);
				fails(t, answer, 422);
				t.true(
					problemPlaces(answer).every((at) => at.startsWith(`query.${name}`)),
					`${endpoint.name} ${name}=${value.slice(0, 20)}`,
				);
			}
		}
	}
	t.deepEqual([...seen].sort(), Object.keys(wrongQueries).sort());
});

type Paths = Record<string, Record<string, { parameters?: readonly { in: string; name: string }[] }>>;

harmless(
	'invalid content types are ignored, and compressed bodies are rejected',
	async (t, place, { organization }) => {
		const path = `${place.facts}/tenants`;
		const raw = '{"key":5}';
		const types = [
			'text/plain',
			'application/json; charset=utf-7',
			'application/json; charset=x',
			'x',
			'multipart/form-data; boundary=x',
		];
		for (const type of types) {
			fails(
				t,
				await organization.send('POST', path, undefined, { raw, headers: { 'content-type': type } }),
				422,
				'key',
			);
		}
		for (const encoding of ['gzip', 'br', 'deflate', 'unknown']) {
			fails(
				t,
				await organization.send('POST', path, undefined, { raw, headers: { 'content-encoding': encoding } }),
				400,
			);
		}
	},
	any,
);

/** Number of random requests. */
const runs = draws(400);

furnishing(
	'random requests cause no 5xx, and every failure is documented and has no effect',
	async (t, place, { organization }) => {
		let succeeded = 0;
		const property = fc.asyncProperty(request, async ({ endpoint, params, query, body }) => {
			const encoded = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, encode(value)]));
			const search = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`);
			const path = `${endpointPath(endpoint, place, encoded)}?${search.join('&')}`;
			const before = await place.revision();
			const answer = await send(organization, endpoint, path, body);
			const after = await place.revision();
			const shown = `${endpoint.method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`;
			if (answer.status >= 500) throw new Error(shown);
			if (answer.status < 400) {
				succeeded += 1;
				return;
			}
			const wrong = complaint(answer);
			if (wrong !== null || after !== before) throw new Error(`${wrong ?? 'it had an effect'}: ${shown}`);
		});
		await fc.assert(property, { numRuns: runs });
		t.log(`${succeeded} of ${runs} succeeded`);
		t.true(succeeded > 0, 'some requests succeed');
	},
);
