import { STATUS_CODES } from 'node:http';
import type { z } from 'zod';
import { Components } from './components.js';
import type { Endpoint } from './endpoint.js';
import { buildExample, type ExampleSource, type Json } from './example.js';
import { jsonLinesType } from './json-line.js';

/** Documentation for an access level. */
export interface AccessNote {
	/** Sentence about the required access. */
	readonly description: string;
	/** True if a bearer key is required. */
	readonly secured: boolean;
	/** Request headers for all endpoints at this level. */
	readonly requestHeaders?: z.ZodObject;
	/** Headers on successful responses at this level. */
	readonly answerHeaders?: z.ZodObject;
	/** Failures shared by endpoints at this level, if they differ from the defaults. */
	readonly failures?: {
		/** Schema for the body of every failure. */
		readonly body: z.ZodType;
		/** Descriptions, keyed by status. */
		readonly statuses: Readonly<Record<number, string>>;
		/** Returns an example body for a description. By default, the description is the body. */
		readonly example?: (description: string) => unknown;
	};
}

/** Link to the reference page of a second server. */
export interface RelatedReference {
	/** Link text. */
	readonly description: string;
	readonly url: string;
}

/** Document parts other than endpoints. */
export interface DocumentInfo {
	readonly title: string;
	readonly version: string;
	readonly description: string;
	/** Descriptions of tags, keyed by tag. */
	readonly tags: Readonly<Record<string, string>>;
	/** Notes for all access names in use. */
	readonly access: Readonly<Record<string, AccessNote>>;
	/** Description of the bearer key. */
	readonly key: string;
	/** Body of every failure except a 422. */
	readonly failureBody: z.ZodType;
	/** Body of a 422 response. */
	readonly validationBody: z.ZodType;
	/** Headers on every response, additional headers on failures, and headers on responses from deprecated endpoints. */
	readonly headers: {
		readonly every: z.ZodObject;
		readonly failures?: z.ZodObject;
		readonly deprecated?: z.ZodObject;
	};
	/** Example values, keyed by field or parameter name. */
	readonly samples: Json;
	/** Second reference to link to, if its address is known. */
	readonly related?: RelatedReference | null;
	/** Returns an example failure body. */
	readonly failureExample: (status: number, description: string) => unknown;
}

/** OpenAPI 3.1 document, ready to send as JSON. */
export interface OpenApiDocument extends Json {
	readonly openapi: string;
	readonly paths: Readonly<Record<string, Json>>;
	readonly components: Json;
}

type AnyEndpoint = Endpoint<string, never>;

/**
 * Describes a table of endpoints in OpenAPI 3.1. Equal tables give byte-identical documents: paths and tags are in the
 * table's order, and components are sorted by name. Throws if two endpoints have the same name or the same method and
 * path, if an access name or a tag has no description, if two schemas have the same id, or if two different headers
 * have the same name.
 */
export function openapi(endpoints: readonly AnyEndpoint[], info: DocumentInfo): OpenApiDocument {
	const steps = openapiSteps(endpoints, info);
	for (;;) {
		const step = steps.next();
		if (step.done) return step.value;
	}
}

/**
 * Like `openapi`, but describes one endpoint per step, because the complete document takes about a second of CPU time.
 */
export function* openapiSteps(
	endpoints: readonly AnyEndpoint[],
	info: DocumentInfo,
): Generator<undefined, OpenApiDocument> {
	const components = new Components();
	const examples = yield* exampleSource(endpoints, components, info.samples);
	const headers = new AnswerHeaders(components, examples);
	const failures = new SharedFailures(components, headers, info);
	const writing = { info, components, headers, failures, examples };
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
		yield;
	}
	const responses = failures.used();
	return {
		openapi: '3.1.0',
		info: { title: info.title, version: info.version, description: info.description, license },
		...(info.related && { externalDocs: { description: info.related.description, url: info.related.url } }),
		servers: [{ url: '/', description: 'The server of this document.' }],
		tags: [...new Set(endpoints.map((endpoint) => endpoint.tag))].map((name) => tagNote(name, info)),
		paths,
		components: {
			schemas: components.sorted(),
			responses,
			headers: headers.used(),
			securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: info.key } },
		},
	};
}

const license = { name: 'Apache License 2.0', identifier: 'Apache-2.0' };

function tagNote(name: string, { tags }: DocumentInfo): Json {
	const description = tags[name];
	if (description === undefined) throw new Error(`the tag ${name} has no note`);
	return { name, description };
}

/** Response headers, collected while the operations are written. */
class AnswerHeaders {
	readonly #headers = new Map<string, Json>();

	constructor(
		readonly components: Components,
		readonly examples: ExampleSource,
	) {}

	/** Returns references to the headers in these schemas, keyed by name. Returns nothing if there are no headers. */
	referencesTo(schemas: readonly (z.ZodObject | undefined)[]): { readonly headers?: Json } {
		const references: Record<string, Json> = {};
		for (const schema of schemas) {
			const { properties, required } = schemaMembers(schema, this.components);
			for (const [name, member] of Object.entries(properties)) {
				this.#add(name, valueNote(this.examples, name, member, required.has(name)));
				references[name] = { $ref: `#/components/headers/${name}` };
			}
		}
		return Object.keys(references).length === 0 ? {} : { headers: references };
	}

	#add(name: string, header: Json): void {
		const known = this.#headers.get(name);
		if (known !== undefined && JSON.stringify(known) !== JSON.stringify(header)) {
			throw new Error(`two different headers are named ${name}`);
		}
		this.#headers.set(name, header);
	}

	/** Returns all headers, sorted by name. */
	used(): Json {
		return Object.fromEntries([...this.#headers].sort(([left], [right]) => (left < right ? -1 : 1)));
	}
}

/** Names and descriptions of the failures that follow from a declaration. */
const sharedNotes = {
	400: ['Malformed', 'The path, a header or the body is malformed.'],
	401: ['Unauthorized', 'The API key is missing or unknown. The response has the header `WWW-Authenticate: Bearer`.'],
	403: ['Forbidden', 'The API key has no access to this operation or to an object in the path.'],
	404: ['NotFound', 'An object in the path does not exist.'],
	413: [
		'TooLarge',
		'The request body is too large, has too many values, an object with too many fields, or a text that is too ' +
			'long.',
	],
	422: [
		'Unprocessable',
		'The request has invalid fields. Lists the first problems, at most 20, each with its location.',
	],
	431: ['TooLong', 'The path, query and headers are too long in total.'],
} as const;

type SharedStatus = keyof typeof sharedNotes;

/** Failure responses shared by operations. The document includes only used responses. */
class SharedFailures {
	readonly #used = new Set<SharedStatus>();

	constructor(
		readonly components: Components,
		readonly headers: AnswerHeaders,
		readonly info: DocumentInfo,
	) {}

	referenceTo(status: SharedStatus): Json {
		this.#used.add(status);
		return { $ref: `#/components/responses/${sharedNotes[status][0]}` };
	}

	/** Returns all referenced responses, keyed by name. */
	used(): Json {
		const statuses = [...this.#used].sort();
		return Object.fromEntries(statuses.map((status) => [sharedNotes[status][0], this.#response(status)]));
	}

	#response(status: SharedStatus): Json {
		const { failureBody, validationBody, failureExample, headers } = this.info;
		const [, description] = sharedNotes[status];
		const schema = this.components.schemaFor(status === 422 ? validationBody : failureBody, 'output');
		const shown = this.headers.referencesTo([headers.every, headers.failures]);
		return answer(description, schema, failureExample(status, description), shown);
	}
}

/** State needed while operations are written. */
interface Writing {
	readonly info: DocumentInfo;
	readonly components: Components;
	readonly headers: AnswerHeaders;
	readonly failures: SharedFailures;
	readonly examples: Examples;
}

interface Examples extends ExampleSource {
	/** Example object keys, keyed by collection path. */
	readonly keys: ReadonlyMap<string, unknown>;
}

/**
 * Collects the examples of requests, which also serve as examples of responses. Requests that create objects take
 * precedence.
 */
function* exampleSource(
	endpoints: readonly AnyEndpoint[],
	components: Components,
	samples: Json,
): Generator<undefined, Examples> {
	const known = new Map<unknown, unknown>();
	const keys = new Map<string, unknown>();
	const creating = endpoints.filter(({ method, example }) => method === 'post' && example !== undefined);
	for (const { path, example, returns } of [...creating, ...endpoints]) {
		const made = returns[200] ?? returns[201];
		if (example === undefined) continue;
		const reference = made && components.schemaFor(made, 'output')['$ref'];
		if (!known.has(reference)) known.set(reference, example);
		if (!keys.has(path)) keys.set(path, (example as { readonly key?: unknown }).key);
		yield;
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
	const parameters = [
		...pathParameters(endpoint, writing),
		...describeParameters('query', endpoint.query, writing),
		...describeParameters('header', access.requestHeaders, writing),
		...describeParameters('header', endpoint.requestHeaders, writing),
	];
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
	const moved =
		successor && `Deprecated: use ${successor}. The response headers \`Deprecation\` and \`Link\` give the details.`;
	return [description, moved, `Access: ${access.description}`].filter(Boolean).join('\n\n');
}

/** Returns a path in OpenAPI syntax. */
function pathTemplate(path: string): string {
	return path.replace(/[:*](\w+)/g, '{$1}');
}

/** Returns an object schema's fields in the form required for OpenAPI parameters. */
function schemaMembers(schema: z.ZodType | undefined, components: Components) {
	const json = schema === undefined ? {} : components.schemaFor(schema, 'input');
	return {
		properties: (json['properties'] ?? {}) as Readonly<Record<string, Json>>,
		required: new Set((json['required'] ?? []) as readonly string[]),
	};
}

/** Describes a parameter or a header, with an example. */
function valueNote(examples: ExampleSource, name: string, member: Json, required: boolean, hint?: unknown): Json {
	const { description, example: _, ...schema } = member;
	const example = buildExample(examples, member, hint, name);
	return { required, ...(description !== undefined && { description }), schema, example };
}

function pathParameters(endpoint: AnyEndpoint, { components, examples }: Writing): Json[] {
	const { properties } = schemaMembers(endpoint.params, components);
	const names = [...endpoint.path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => name);
	return names.map((name) => {
		const schema = properties[name] ?? { type: 'string' };
		const collection = endpoint.path.slice(0, endpoint.path.indexOf(`/:${name}`));
		const key = examples.samples[name] ?? examples.keys.get(collection);
		return { name, in: 'path', ...valueNote(examples, name, schema, true, key) };
	});
}

/** Returns the fields of an object schema as OpenAPI parameters. */
function describeParameters(place: 'query' | 'header', schema: z.ZodType | undefined, writing: Writing): Json[] {
	const { properties, required } = schemaMembers(schema, writing.components);
	return Object.entries(properties).map(([name, member]) => ({
		name,
		in: place,
		...valueNote(writing.examples, name, member, required.has(name)),
	}));
}

function requestBody(endpoint: AnyEndpoint, body: z.ZodType, components: Components): Json {
	const media = {
		schema: components.schemaFor(body, 'input'),
		...(endpoint.example !== undefined && { example: endpoint.example }),
	};
	const lines = endpoint.lines && { [jsonLinesType]: { schema: { type: 'string' }, example: asLines(media.example) } };
	return { required: !body.safeParse(undefined).success, content: { 'application/json': media, ...lines } };
}

function asLines(items: unknown): string {
	return [items]
		.flat()
		.map((item) => `${JSON.stringify(item)}\n`)
		.join('');
}

function answer(description: string, schema: Json, example: unknown, { headers }: { readonly headers?: Json }): Json {
	return { description, ...(headers && { headers }), content: { 'application/json': { schema, example } } };
}

/** Returns the shared failures that follow from an endpoint's declaration. */
function sharedStatuses(endpoint: AnyEndpoint, access: AccessNote): SharedStatus[] {
	const statuses: SharedStatus[] = [];
	if (endpoint.body || endpoint.params || access.requestHeaders) statuses.push(400);
	if (access.secured) statuses.push(401, 403);
	if (endpoint.params) statuses.push(404);
	if (endpoint.body) statuses.push(413);
	if (endpoint.params || endpoint.query || endpoint.body) statuses.push(422);
	if (endpoint.params || endpoint.query) statuses.push(431);
	return statuses;
}

function anyOf(schemas: readonly [Json, ...Json[]]): Json {
	return schemas.length === 1 ? schemas[0] : { anyOf: schemas };
}

function operationResponses(
	endpoint: AnyEndpoint,
	access: AccessNote,
	{ info, components, headers, failures, examples }: Writing,
): Json {
	const responses: Record<string, Json> = {};
	const deprecated = endpoint.deprecated && info.headers.deprecated;
	const answered = [info.headers.every, access.answerHeaders, endpoint.answerHeaders, deprecated];
	const own = access.failures;
	const shared = own === undefined ? sharedStatuses(endpoint, access) : [];
	for (const [status, returned] of Object.entries(endpoint.returns)) {
		const description = STATUS_CODES[status] ?? status;
		const schema = returned && components.schemaFor(returned, 'output');
		const isFailure = shared.some((one) => String(one) === status);
		const others = isFailure ? [components.schemaFor(info.failureBody, 'output')] : [];
		const type = endpoint.answerTypes?.[Number(status)];
		const shown = headers.referencesTo(answered);
		responses[status] = schema
			? answer(description, anyOf([schema, ...others]), buildExample(examples, schema, endpoint.example), shown)
			: { description, ...shown, ...(type !== undefined && { content: { [type]: {} } }) };
	}
	for (const status of shared) {
		if (endpoint.failures?.[status] || endpoint.returns[status]) continue;
		responses[status] = failures.referenceTo(status);
	}
	for (const [status, description] of Object.entries({ ...own?.statuses, ...endpoint.failures })) {
		const body = own?.body ?? (status === '422' ? info.validationBody : info.failureBody);
		const ownExample = own?.example?.(description) ?? description;
		const example = own === undefined ? info.failureExample(Number(status), description) : ownExample;
		const shown = headers.referencesTo([info.headers.every, info.headers.failures]);
		responses[status] = answer(description, components.schemaFor(body, 'output'), example, shown);
	}
	// No sorting is needed: JavaScript orders integer-like keys numerically.
	return responses;
}
