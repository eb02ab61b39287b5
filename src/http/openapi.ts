import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { Endpoint } from './endpoint.js';

/** What callers of an access level need to know. */
export interface AccessNote {
	/** One sentence: who may call. */
	readonly description: string;
	/** Whether a bearer key is needed. */
	readonly secured: boolean;
}

/** What a document says that the endpoints do not. */
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
}

type Json = Readonly<Record<string, unknown>>;

/** An OpenAPI 3.1 document, ready to be sent as JSON. */
export interface OpenApiDocument extends Json {
	readonly openapi: string;
	readonly paths: Readonly<Record<string, Json>>;
	readonly components: Json;
}

type AnyEndpoint = Endpoint<string, never>;

/**
 * Describes a table of endpoints in OpenAPI 3.1. Equal tables give byte-identical documents: paths and tags in table
 * order, components by name. Throws when two endpoints share a name or a place, when an access name has no note, and
 * when two schemas share an id.
 */
export function openapi(endpoints: readonly AnyEndpoint[], info: DocumentInfo): OpenApiDocument {
	const components = new Components();
	const failures = sharedFailures(components, info);
	const paths: Record<string, Record<string, Json>> = {};
	const names = new Set<string>();
	for (const endpoint of endpoints) {
		const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
		const operations = paths[path] ?? {};
		paths[path] = operations;
		if (names.has(endpoint.name)) throw new Error(`two endpoints are named ${endpoint.name}`);
		if (operations[endpoint.method]) throw new Error(`two endpoints are at ${endpoint.method} ${endpoint.path}`);
		names.add(endpoint.name);
		operations[endpoint.method] = operationOf(endpoint, info, components, failures);
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

/** The named schemas of a document, collected while its operations are written. */
class Components {
	readonly #schemas = new Map<string, Json>();

	/** The JSON Schema of what a request sends (`input`) or an answer holds (`output`); named parts become references. */
	of(schema: z.ZodType, io: 'input' | 'output'): Json {
		const {
			$schema: _,
			$defs,
			...json
		} = rewritten(z.toJSONSchema(schema, { io, target: 'draft-2020-12', unrepresentable: 'any', override: adjusted }));
		for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) this.#add(name, definition);
		return json;
	}

	#add(name: string, definition: Json): void {
		const known = this.#schemas.get(name);
		if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition)) {
			throw new Error(`the schema id ${name} stands for two different shapes`);
		}
		this.#schemas.set(name, definition);
	}

	sorted(): Json {
		return Object.fromEntries([...this.#schemas].sort(([left], [right]) => (left < right ? -1 : 1)));
	}
}

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

/** What the conversion of one schema says too much or too little. */
const adjusted: Override = ({ zodSchema, jsonSchema }) => {
	// Answers may grow fields: a client that refuses unknown ones would break on the next version.
	if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
	// The conversion leaves out the default of what is not its own input, such as a number written as text.
	const { def } = zodSchema._zod;
	if (def.type === 'default') jsonSchema.default ??= def.defaultValue as z.core.JSONSchema.BaseSchema['default'];
};

/** Points references at the document's components instead of at each schema's own definitions. */
function rewritten(schema: Json): Json {
	return JSON.parse(JSON.stringify(schema), (name, value) =>
		name === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : value,
	) as Json;
}

interface SharedFailure {
	readonly name: string;
	readonly response: Json;
}

type SharedFailures = Readonly<Record<400 | 401 | 403 | 404 | 413 | 422, SharedFailure>>;

function sharedFailures(components: Components, info: DocumentInfo): SharedFailures {
	const failure = components.of(info.failureBody, 'output');
	const validation = components.of(info.validationBody, 'output');
	const shared = (name: string, description: string, schema: Json) => ({ name, response: answer(description, schema) });
	return {
		400: shared('Malformed', 'The request cannot be read: its path or its body is malformed.', failure),
		401: shared('Unauthorized', 'The API key is missing or not known.', failure),
		403: shared('Forbidden', 'The API key does not give access to this.', failure),
		404: shared('NotFound', 'Something that the path names does not exist.', failure),
		413: shared('TooLarge', 'The request body is too large.', failure),
		422: shared('Unprocessable', 'Fields of the request are wrong; every problem with its place.', validation),
	};
}

function operationOf(endpoint: AnyEndpoint, info: DocumentInfo, components: Components, shared: SharedFailures): Json {
	const access = info.access[endpoint.access];
	if (access === undefined) throw new Error(`${endpoint.name} has the access ${endpoint.access}, which has no note`);
	const parameters = [...pathParameters(endpoint, components), ...queryParameters(endpoint, components)];
	return {
		operationId: endpoint.name,
		summary: endpoint.summary,
		description: [endpoint.description, `Access: ${access.description}`].filter(Boolean).join('\n\n'),
		tags: [endpoint.tag],
		'x-access': endpoint.access,
		security: access.secured ? [{ bearer: [] }] : [],
		...(parameters.length > 0 && { parameters }),
		...(endpoint.body && { requestBody: requestBodyOf(endpoint, endpoint.body, components) }),
		responses: responsesOf(endpoint, access, components, info, shared),
	};
}

/** The members of an object schema as OpenAPI wants parameters: one by one. */
function membersOf(schema: z.ZodType | undefined, components: Components) {
	const json = schema === undefined ? {} : components.of(schema, 'input');
	return {
		properties: (json['properties'] ?? {}) as Readonly<Record<string, Json>>,
		required: new Set((json['required'] ?? []) as readonly string[]),
	};
}

function parameter(place: 'path' | 'query', name: string, required: boolean, schema: Json): Json {
	const { description, ...rest } = schema;
	return { name, in: place, required, ...(description !== undefined && { description }), schema: rest };
}

function pathParameters(endpoint: AnyEndpoint, components: Components): Json[] {
	const { properties } = membersOf(endpoint.params, components);
	const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
	return names.map((name) => parameter('path', name, true, properties[name] ?? { type: 'string' }));
}

function queryParameters(endpoint: AnyEndpoint, components: Components): Json[] {
	const { properties, required } = membersOf(endpoint.query, components);
	return Object.entries(properties).map(([name, schema]) => parameter('query', name, required.has(name), schema));
}

function requestBodyOf(endpoint: AnyEndpoint, body: z.ZodType, components: Components): Json {
	const media = {
		schema: components.of(body, 'input'),
		...(endpoint.example !== undefined && { example: endpoint.example }),
	};
	return { required: !body.safeParse(undefined).success, content: { 'application/json': media } };
}

function answer(description: string, schema: Json | undefined): Json {
	return { description, ...(schema && { content: { 'application/json': { schema } } }) };
}

/** Which shared failures an endpoint can answer follows from what it declares. */
function sharedStatuses(endpoint: AnyEndpoint, access: AccessNote): (keyof SharedFailures)[] {
	const statuses: (keyof SharedFailures)[] = [];
	if (endpoint.body || endpoint.params) statuses.push(400);
	if (access.secured) statuses.push(401, 403);
	if (endpoint.params) statuses.push(404);
	if (endpoint.body) statuses.push(413);
	if (endpoint.params || endpoint.query || endpoint.body) statuses.push(422);
	return statuses;
}

function responsesOf(
	endpoint: AnyEndpoint,
	access: AccessNote,
	components: Components,
	info: DocumentInfo,
	shared: SharedFailures,
): Json {
	const responses: Record<string, Json> = {};
	for (const [status, schema] of Object.entries(endpoint.returns)) {
		responses[status] = answer(STATUS_CODES[status] ?? status, schema ? components.of(schema, 'output') : undefined);
	}
	for (const status of sharedStatuses(endpoint, access)) {
		responses[status] = { $ref: `#/components/responses/${shared[status].name}` };
	}
	for (const [status, description] of Object.entries(endpoint.failures ?? {})) {
		const body = status === '422' ? info.validationBody : info.failureBody;
		responses[status] = answer(description, components.of(body, 'output'));
	}
	// Integer-like names come out in numeric order whatever the order of assignment.
	return responses;
}
