import { Validator } from '@seriousme/openapi-schema-validator';
import test, { type ExecutionContext } from 'ava';
import { endpoints } from '../../src/api/table.js';
import { type Answer, client } from '../support/client.js';
import { fails } from '../support/failure.js';
import { createSecret, type Management, newPlace, startManagement } from '../support/management.js';
import { SchemaValidators } from '../support/schema-validators.js';
import { endpointBody, endpointClients, endpointPath, furnish, keyedEndpoints, tour } from '../support/tour.js';

/** The served OpenAPI document is valid, complete, and consistent with the responses. */

type Json = Readonly<Record<string, unknown>>;

interface Operation {
	readonly operationId: string;
	readonly security: readonly Json[];
	readonly parameters?: readonly { readonly name: string; readonly in: string; readonly example?: unknown }[];
	readonly requestBody?: { readonly content: Content };
	readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
}

interface Content {
	readonly 'application/json': { readonly schema: Json; readonly example?: unknown };
}

interface Response {
	readonly description: string;
	readonly content?: Content;
}

interface Document extends Json {
	readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
	readonly components: {
		readonly schemas: Readonly<Record<string, Json>>;
		readonly responses: Readonly<Record<string, Response>>;
	};
}

let management: Management;
let document: Document;
let validators: SchemaValidators;

test.before('start', async () => {
	management = await startManagement();
	document = (await client(management.url).get<Document>('/openapi.json')).body;
	validators = new SchemaValidators(document.components.schemas);
});

test.after.always('stop', async () => management.stop());

const operations = () =>
	Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({ place: `${method} ${path}`, operation })),
	);

test('the document is served publicly, as valid OpenAPI 3.1', async (t) => {
	const answer = await client(management.url).get('/openapi.json');
	t.is(answer.status, 200);
	t.is(answer.headers.get('content-type'), 'application/json');
	t.is(answer.body['openapi'], '3.1.0');
	const { valid, errors } = await new Validator().validate(structuredClone(answer.body));
	t.true(valid, JSON.stringify(errors));
});

test('the document lists every served endpoint once, at its path', (t) => {
	const listed = new Map(operations().map(({ place, operation }) => [place, operation.operationId]));
	for (const { name, method, path } of endpoints) {
		t.is(listed.get(`${method} ${path.replace(/:(\w+)/g, '{$1}')}`), name);
	}
	const names = operations().map(({ operation }) => operation.operationId);
	t.is(new Set(names).size, names.length);
	const others = names.filter((name) => !endpoints.some((endpoint) => endpoint.name === name)).sort();
	t.deepEqual(others, ['getBundle', 'getOpenApiDocument', 'getRegoBundle']);
});

test('every reference in the document resolves', (t) => {
	const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([\w-]+)"/g)];
	t.true(references.length > 50);
	for (const [reference, kind, name] of references) {
		const parts: Readonly<Record<string, Json>> = document.components;
		t.true(Object.hasOwn(parts[kind ?? ''] ?? {}, name ?? ''), reference);
	}
	t.is(JSON.stringify(document).match(/"\$ref":/g)?.length, references.length);
});

/** `access` values of public endpoints. */
const openAccess: readonly string[] = ['public', 'probe', 'element.enter', 'console.enter'];

test('every path parameter and every key requirement is described', (t) => {
	for (const { place, operation } of operations()) {
		const inPath = [...place.matchAll(/{(\w+)}/g)].map(([, name]) => name);
		const described = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
		t.deepEqual(
			described.map(({ name }) => name),
			inPath,
			place,
		);
		const endpoint = endpoints.find(({ name }) => name === operation.operationId);
		if (endpoint) t.is(operation.security.length > 0, !openAccess.includes(endpoint.access), place);
	}
});

test('every endpoint with a body has a valid example', (t) => {
	for (const endpoint of endpoints.filter(({ body }) => body !== undefined)) {
		t.not(endpoint.example, undefined, endpoint.name);
		t.true(endpoint.body?.safeParse(endpoint.example).success, endpoint.name);
	}
});

/** Yields every object that has or needs an example: every object with a schema, such as a parameter or a body. */
function* exampled(value: unknown, at: string): Generator<readonly [at: string, place: Json]> {
	if (typeof value !== 'object' || value === null) return;
	if ('schema' in value) yield [at, value as Json];
	else for (const [name, member] of Object.entries(value)) yield* exampled(member, `${at}.${name}`);
}

test('every parameter, body and response has a valid example', (t) => {
	const { paths, components } = document;
	const places = [...exampled(paths, ''), ...exampled(components.responses, 'responses')];
	t.true(places.length > 200);
	for (const [at, { schema, example }] of places) {
		t.not(example, undefined, at);
		// A request example may contain ignored fields. A response example must contain only described fields.
		const parsed = validators.of(schema as Json, !at.includes('requestBody')).safeParse(example);
		t.true(parsed.success, `${at}: ${JSON.stringify(example)} ${parsed.error}`);
	}
});

test('the request and response examples of an endpoint show the same object', (t) => {
	const shown = (path: string, method: string) => {
		const operation = document.paths[path]?.[method];
		const response = operation?.responses['200'] as Response | undefined;
		return response?.content?.['application/json'].example as Json | undefined;
	};
	const tenants = '/v2/facts/{proj_id}/{env_id}/tenants';
	t.like(shown(tenants, 'post'), { key: 'acme', name: 'Acme Inc.' });
	t.like(shown(`${tenants}/{tenant_id}`, 'get'), { key: 'acme', name: 'Acme Inc.' });
	t.like(shown(`${tenants}/{tenant_id}`, 'patch'), { key: 'acme', name: 'Acme Ltd.' });
	t.like(shown(tenants, 'get'), [{ key: 'acme' }]);
});

/** Returns the difference between a response and the document, or `null` if the response conforms. */
function disagreement(operationId: string, answer: Answer<unknown>): string | null {
	const operation = operations().find((one) => one.operation.operationId === operationId)?.operation;
	const declared = operation?.responses[answer.status];
	if (declared === undefined) return `${answer.status} is not described`;
	const response = '$ref' in declared ? document.components.responses[declared.$ref.split('/').at(-1) ?? ''] : declared;
	const schema = response?.content?.['application/json']?.schema;
	// Plain text and archives have no schema.
	const type = answer.headers.get('content-type') ?? '';
	const isPlain = type.startsWith('text/plain') || Object.hasOwn(response?.content ?? {}, type);
	if (schema === undefined) return answer.body === undefined || isPlain ? null : 'a body that is not described';
	if (type !== 'application/json') return 'another content type';
	const parsed = validators.of(schema).safeParse(answer.body);
	return parsed.success ? null : JSON.stringify(parsed.error.issues);
}

test('responses to valid calls match the document, for every endpoint', async (t) => {
	const project = await management.organization.post('/v2/projects', {
		key: 'toured',
		name: 'Toured',
		initial_environments: [],
	});
	t.is(project.status, 200);
	const place = await newPlace(management, management.organization, 'toured');
	await furnish(place);
	const visits = await tour(place, await endpointClients(place, management));
	t.is(visits.length, keyedEndpoints.length);
	for (const { endpoint, answer } of visits) {
		t.is(
			disagreement(endpoint.name, answer),
			null,
			`${endpoint.name} ${answer.status}: ${JSON.stringify(answer.body)}`,
		);
	}
	const failed = visits.filter(({ answer }) => answer.status >= 400).map(({ endpoint }) => endpoint.name);
	t.deepEqual(failed.sort(), [], 'all calls succeed');
});

test('list responses match the document as arrays and as pages', async (t) => {
	const place = await newPlace(management, management.organization);
	await furnish(place);
	await place.http.post(`${place.facts}/role_assignments`, {
		user: 'alice@example.com',
		role: 'editor',
		tenant: 'acme',
	});
	await place.http.post(`${place.facts}/relationship_tuples`, {
		subject: 'folder:finance',
		relation: 'parent',
		object: 'document:budget',
		tenant: 'acme',
	});
	await described(
		t,
		place.http.get(`${place.schema}/resources?include_total_count=true&include_built_in=true`),
		'listResources',
	);
	await described(t, place.http.get(`${place.schema}/roles?include_total_count=true`), 'listRoles');
	await described(t, place.http.get(`${place.facts}/tenants?include_total_count=true`), 'listTenants');
	await described(t, place.http.get(`${place.facts}/users?include_resource_instance_roles=true`), 'listUsers');
	for (const query of ['', 'detailed=true', 'include_total_count=true', 'detailed=true&include_total_count=true']) {
		await described(t, place.http.get(`${place.facts}/role_assignments?${query}`), 'listRoleAssignments');
		await described(t, place.http.get(`${place.facts}/resource_instances?${query}`), 'listResourceInstances');
		await described(t, place.http.get(`${place.facts}/relationship_tuples?${query}`), 'listRelationshipTuples');
	}
	const held = { role: 'editor', tenant: 'acme' };
	const path = `${place.facts}/users/alice@example.com/roles?return_deleted=true`;
	await described(t, place.http.delete(path, held), 'unassignRoleFromUser');
	await described(t, place.http.put(`${place.facts}/users/new`, {}), 'syncUser', 201);
});

async function described(
	t: ExecutionContext,
	asked: Promise<Answer<unknown>>,
	operationId: string,
	status = 200,
): Promise<void> {
	const answer = await asked;
	t.is(answer.status, status);
	t.is(disagreement(operationId, answer), null, `${operationId}: ${JSON.stringify(answer.body)}`);
}

test('error responses to invalid calls match the document, for every endpoint', async (t) => {
	const place = await newPlace(management, management.organization);
	const { url, store, organization } = management;
	const reader = client(url, await createSecret(store, place.organization_id, { access_level: 'read' }));
	for (const endpoint of keyedEndpoints.filter(({ access }) => access !== 'public')) {
		const path = endpointPath(endpoint, place);
		const ask = (http: ReturnType<typeof client>, at = path, raw?: string) =>
			http.send(
				endpoint.method.toUpperCase(),
				at,
				raw === undefined ? endpointBody(endpoint) : undefined,
				raw === undefined ? {} : { raw },
			);
		const answers = [await ask(client(url))];
		if (endpoint.method !== 'get') answers.push(await ask(reader));
		if (endpoint.path.includes(':')) {
			for (const wrong of ['nothing', 'a%00b', 'a%ZZ'])
				answers.push(await ask(organization, path.replace('default', wrong)));
			// The path names an object below the environment. It is missing, because the environment is empty.
			if (!/(create|list)(User|Tenant|Role|Resource)s?$|Project|Environment|Policy|syncUser/.test(endpoint.name))
				answers.push(await ask(organization));
		}
		if (endpoint.body !== undefined) {
			for (const raw of ['{', '5', `"${'x'.repeat(6_000_000)}"`]) answers.push(await ask(organization, path, raw));
		}
		for (const answer of answers) {
			t.is(
				disagreement(endpoint.name, answer),
				null,
				`${endpoint.name} ${answer.status}: ${JSON.stringify(answer.body)}`,
			);
		}
	}
});

test('the page and its files are public, and no other files of the package are served', async (t) => {
	const page = await fetch(`${management.url}/docs`);
	t.is(page.status, 200);
	t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
	const html = await page.text();
	const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
	t.is(assets.length, 4);
	for (const path of assets) {
		const asset = await fetch(management.url + path);
		t.is(asset.status, 200, path);
		t.true((await asset.arrayBuffer()).byteLength > 50, path);
		t.regex(asset.headers.get('content-type') ?? '', /^(text\/(css|javascript); charset=utf-8|image\/png)$/);
		t.is(asset.headers.get('x-content-type-options'), 'nosniff');
	}
	t.true((await (await fetch(`${management.url}/docs/start.js`)).text()).includes('/openapi.json'));
	for (const path of ['package.json', '..%2Fpackage.json', 'swagger-ui.js.map', '']) {
		fails(t, await client(management.url).get(`/docs/${path}`), 404);
	}
});
