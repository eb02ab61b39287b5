import { STATUS_CODES } from 'node:http';
import type { z } from 'zod';
import { Components } from './components.js';
import type { Endpoint } from './endpoint.js';
import { buildExample, type ExampleSource, type Json } from './example.js';

/** What callers need to know about an access level. */
export interface AccessNote {
	/** One sentence: who may call. */
	readonly description: string;
	/** Whether a bearer key is needed. */
	readonly secured: boolean;
	/** The failures that endpoints of this level share, where they are others than elsewhere. */
	readonly failures?: {
		/** The body of every failure. */
		readonly body: z.ZodType;
		/** What each status means. */
		readonly statuses: Readonly<Record<number, string>>;
	};
}

/** The parts of a document that do not come from the endpoints. */
export interface DocumentInfo {
	readonly title: string;
	readonly version: string;
	readonly description: string;
	/** Every access name the endpoints use. */
	readonly access: Readonly<Record<string, AccessNote>>;
	/** What the bearer key is. */
	readonly key: string;
	/** The body of every failure but 422. */
	readonly failureBody: z.ZodType;
	/** The body of a 422. */
	readonly validationBody: z.ZodType;
	/** Values for examples, by the name of the member or parameter. */
	readonly samples: Json;
	/** An example of the body of a failure. */
	readonly failureExample: (status: number, description: string) => unknown;
}

/** An OpenAPI 3.1 document, ready to be sent as JSON. */
export interface OpenApiDocument extends Json {
	readonly openapi: string;
	readonly paths: Readonly<Record<string, Json>>;
	readonly components: Json;
}

type AnyEndpoint = Endpoint<string, never>;

/**
 * Describes a table of endpoints in OpenAPI 3.1. Equal tables give byte-identical documents: paths and tags in table
 * order, components by name. Throws when two endpoints share a name or a method and path, when an access name has no
 * note, and when two schemas share an id.
 */
export function openapi(endpoints: readonly AnyEndpoint[], info: DocumentInfo): OpenApiDocument {
	const components = new Components();
	const failures = sharedFailures(components, info);
	const writing = { info, components, failures, examples: exampleSource(endpoints, components, info.samples) };
	const paths: Record<string, Record<string, Json>> = {};
	const names = new Set<string>();
	for (const endpoint of endpoints) {
		const path = pathTemplate(endpoint.path);
		const operations = paths[path] ?? {};
		paths[path] = operations;
		if (names.has(endpoint.name)) throw new Error(`two endpoints are named ${endpoint.name}`);
		if (operations[endpoint.method]) throw new Error(`two endpoints are at ${endpoint.method} ${endpoint.path}`);
		names.add(endpoint.name);
		operations[endpoint.method] = operation(endpoint, writing);
	}
	return {
		openapi: '3.1.0',
		info: { title: info.title, version: info.version, description: info.description },
		tags: [...new Set(endpoints.map((endpoint) => endpoint.tag))].map((name) => ({ name })),
		paths,
		components: {
			schemas: components.sorted(),
			responses: Object.fromEntries(Object.values(failures).map(({ name, response }) => [name, response])),
			securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: info.key } },
		},
	};
}

interface SharedFailure {
	readonly name: string;
	readonly response: Json;
}

type SharedFailures = Readonly<Record<400 | 401 | 403 | 404 | 413 | 422 | 431, SharedFailure>>;

function sharedFailures(components: Components, info: DocumentInfo): SharedFailures {
	const failure = components.schemaFor(info.failureBody, 'output');
	const validation = components.schemaFor(info.validationBody, 'output');
	const shared = (status: number, name: string, description: string) => {
		const schema = status === 422 ? validation : failure;
		return { name, response: answer(description, schema, info.failureExample(status, description)) };
	};
	return {
		400: shared(400, 'Malformed', 'The request cannot be read: its path or its body is malformed.'),
		401: shared(401, 'Unauthorized', 'The API key is missing or unknown.'),
		403: shared(403, 'Forbidden', 'The API key does not give access to this.'),
		404: shared(404, 'NotFound', 'Something that the path names does not exist.'),
		413: shared(
			413,
			'TooLarge',
			'The request body is too large, holds too many values, an object of too many members or too long a text.',
		),
		422: shared(
			422,
			'Unprocessable',
			'Fields of the request are wrong: the first problems, at most 20, each with its place.',
		),
		431: shared(431, 'TooLong', 'The path, the query and the headers together are too long.'),
	};
}

/** What the operations of one document are written with. */
interface Writing {
	readonly info: DocumentInfo;
	readonly components: Components;
	readonly failures: SharedFailures;
	readonly examples: Examples;
}

interface Examples extends ExampleSource {
	/** For a collection's path, the key of the object in its example. */
	readonly keys: ReadonlyMap<string, unknown>;
}

/** The examples of requests that create objects also serve for the models in answers. */
function exampleSource(endpoints: readonly AnyEndpoint[], components: Components, samples: Json): Examples {
	const known = new Map<unknown, unknown>();
	const keys = new Map<string, unknown>();
	const creating = endpoints.filter(({ method, example }) => method === 'post' && example !== undefined);
	for (const { path, example, returns } of [...creating, ...endpoints]) {
		const made = returns[200] ?? returns[201];
		if (example === undefined) continue;
		const reference = made && components.schemaFor(made, 'output')['$ref'];
		if (!known.has(reference)) known.set(reference, example);
		if (!keys.has(path)) keys.set(path, (example as { readonly key?: unknown }).key);
	}
	return {
		resolve: (reference) => components.resolve(reference),
		known: (reference) => known.get(reference),
		samples,
		keys,
	};
}

function operation(endpoint: AnyEndpoint, writing: Writing): Json {
	const { info, components } = writing;
	const access = info.access[endpoint.access];
	if (access === undefined) throw new Error(`${endpoint.name} has the access ${endpoint.access}, which has no note`);
	const parameters = [...pathParameters(endpoint, writing), ...queryParameters(endpoint, writing)];
	return {
		operationId: endpoint.name,
		summary: endpoint.summary,
		description: operationDescription(endpoint, access),
		tags: [endpoint.tag],
		'x-access': endpoint.access,
		security: access.secured ? [{ bearer: [] }] : [],
		...(endpoint.deprecated && { deprecated: true }),
		...(parameters.length > 0 && { parameters }),
		...(endpoint.body && { requestBody: requestBody(endpoint, endpoint.body, components) }),
		responses: operationResponses(endpoint, access, writing),
	};
}

function operationDescription({ method, description, deprecated }: AnyEndpoint, access: AccessNote): string {
	const successor = deprecated && `\`${method.toUpperCase()} ${pathTemplate(deprecated.successor)}\``;
	const moved = successor && `Deprecated: use ${successor}. The answer says so in \`Deprecation\` and \`Link\`.`;
	return [description, moved, `Access: ${access.description}`].filter(Boolean).join('\n\n');
}

/** A path as OpenAPI writes it. */
function pathTemplate(path: string): string {
	return path.replace(/[:*](\w+)/g, '{$1}');
}

/** The members of an object schema, one by one, as OpenAPI wants parameters. */
function schemaMembers(schema: z.ZodType | undefined, components: Components) {
	const json = schema === undefined ? {} : components.schemaFor(schema, 'input');
	return {
		properties: (json['properties'] ?? {}) as Readonly<Record<string, Json>>,
		required: new Set((json['required'] ?? []) as readonly string[]),
	};
}

function parameter(place: 'path' | 'query', name: string, required: boolean, schema: Json, example: unknown): Json {
	const { description, ...rest } = schema;
	return { name, in: place, required, ...(description !== undefined && { description }), schema: rest, example };
}

function pathParameters(endpoint: AnyEndpoint, { components, examples }: Writing): Json[] {
	const { properties } = schemaMembers(endpoint.params, components);
	const names = [...endpoint.path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => name);
	return names.map((name) => {
		const schema = properties[name] ?? { type: 'string' };
		const collection = endpoint.path.slice(0, endpoint.path.indexOf(`/:${name}`));
		const key = examples.samples[name] ?? examples.keys.get(collection);
		return parameter('path', name, true, schema, buildExample(examples, schema, key, name));
	});
}

function queryParameters(endpoint: AnyEndpoint, { components, examples }: Writing): Json[] {
	const { properties, required } = schemaMembers(endpoint.query, components);
	return Object.entries(properties).map(([name, schema]) =>
		parameter('query', name, required.has(name), schema, buildExample(examples, schema, undefined, name)),
	);
}

function requestBody(endpoint: AnyEndpoint, body: z.ZodType, components: Components): Json {
	const media = {
		schema: components.schemaFor(body, 'input'),
		...(endpoint.example !== undefined && { example: endpoint.example }),
	};
	return { required: !body.safeParse(undefined).success, content: { 'application/json': media } };
}

function answer(description: string, schema: Json, example: unknown): Json {
	return { description, content: { 'application/json': { schema, example } } };
}

/** The shared failures that an endpoint can answer, which follow from its declaration. */
function sharedStatuses(endpoint: AnyEndpoint, access: AccessNote): (keyof SharedFailures)[] {
	const statuses: (keyof SharedFailures)[] = [];
	if (endpoint.body || endpoint.params) statuses.push(400);
	if (access.secured) statuses.push(401, 403);
	if (endpoint.params) statuses.push(404);
	if (endpoint.body) statuses.push(413);
	if (endpoint.params || endpoint.query || endpoint.body) statuses.push(422);
	if (endpoint.params || endpoint.query) statuses.push(431);
	return statuses;
}

function operationResponses(
	endpoint: AnyEndpoint,
	access: AccessNote,
	{ info, components, failures, examples }: Writing,
): Json {
	const responses: Record<string, Json> = {};
	for (const [status, returned] of Object.entries(endpoint.returns)) {
		const description = STATUS_CODES[status] ?? status;
		const schema = returned && components.schemaFor(returned, 'output');
		responses[status] = schema
			? answer(description, schema, buildExample(examples, schema, endpoint.example))
			: { description };
	}
	const own = access.failures;
	for (const status of own === undefined ? sharedStatuses(endpoint, access) : []) {
		responses[status] = { $ref: `#/components/responses/${failures[status].name}` };
	}
	for (const [status, description] of Object.entries({ ...own?.statuses, ...endpoint.failures })) {
		const body = own?.body ?? (status === '422' ? info.validationBody : info.failureBody);
		const example = own === undefined ? info.failureExample(Number(status), description) : description;
		responses[status] = answer(description, components.schemaFor(body, 'output'), example);
	}
	// Integer-like keys come out in numeric order, whatever the order of assignment.
	return responses;
}
