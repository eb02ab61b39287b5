import { setImmediate as nextTurn } from 'node:timers/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import test from 'ava';
import { z } from 'zod';
import { documentationEndpoints } from '../../src/http/documentation.js';
import type { Endpoint } from '../../src/http/endpoint.js';
import { type DocumentInfo, openapi } from '../../src/http/openapi.js';
import { pageEndpoints } from '../../src/http/page.js';
import { sampleEndpoints } from './sample.js';

/** The document matches the declared endpoints, in valid OpenAPI 3.1. */

const info: DocumentInfo = {
	title: 'Sample',
	version: '1.2.3',
	description: 'A sample.',
	tags: { Things: 'Things.', Oddities: 'What is odd.', Documentation: 'This.' },
	headers: {
		every: z.object({ 'X-Request-ID': z.string().describe('The id.') }),
		failures: z.object({ 'X-Revision': z.int().optional() }),
		deprecated: z.object({ Link: z.string() }),
	},
	access: {
		open: { description: 'anyone.', secured: false },
		keyed: { description: 'holders of a key.', secured: true },
	},
	key: 'A key.',
	failureBody: z.object({ message: z.string() }).meta({ id: 'Failure' }),
	validationBody: z.object({ detail: z.array(z.string()) }).meta({ id: 'Validation' }),
	samples: { tags: ['new'], thing_id: 'abc' },
	failureExample: (status, message) => (status === 422 ? { detail: [message] } : { message }),
};

type Tree = { readonly [name: string]: Tree };

/** Returns the document as plain JSON. Accessing a missing member fails the test. */
function openapiDocument(endpoints: readonly Endpoint<string, never>[]): Tree {
	return JSON.parse(JSON.stringify(openapi(endpoints, info)));
}

const endpoints = [
	...sampleEndpoints,
	...pageEndpoints({ documentPath: '/openapi.json', pagePath: '/docs', access: 'open' }),
];

function operation(path: string, method: string): Tree {
	const found = openapiDocument(endpoints)['paths']?.[path]?.[method];
	if (found === undefined) throw new Error(`no ${method} ${path}`);
	return found;
}

test('the document is valid OpenAPI 3.1', async (t) => {
	const { valid, errors } = await new Validator().validate(openapiDocument(endpoints));
	t.true(valid, JSON.stringify(errors));
});

test('an empty table gives a valid document', async (t) => {
	t.true((await new Validator().validate(openapiDocument([]))).valid);
});

test('equal tables give equal bytes, whatever was generated earlier', (t) => {
	const first = JSON.stringify(openapi(endpoints, info));
	openapi([...endpoints].reverse(), info);
	t.is(JSON.stringify(openapi(endpoints, info)), first);
});

test('paths and tags are in table order, and operations have the endpoint names', (t) => {
	const document = openapiDocument(endpoints);
	const operations = Object.values(document['paths'] ?? {}).flatMap((methods) => Object.values(methods));
	t.deepEqual(
		new Set(operations.map((one) => one['operationId'] as unknown)),
		new Set(endpoints.map((endpoint) => endpoint.name)),
	);
	t.deepEqual(Object.keys(document['paths'] ?? {}), [
		...new Set(endpoints.map((endpoint) => endpoint.path.replace(/:(\w+)/g, '{$1}'))),
	]);
	t.deepEqual(document['tags'] as unknown, [
		{ name: 'Things', description: 'Things.' },
		{ name: 'Oddities', description: 'What is odd.' },
		{ name: 'Documentation', description: 'This.' },
	]);
});

test('request and response headers are declared', (t) => {
	const asked = altered({
		requestHeaders: z.object({ 'X-Debug': z.enum(['true']).optional().describe('Adds the reasons.') }),
		answerHeaders: z.object({ ETag: z.string().meta({ example: '"1"' }) }),
		answerTypes: { 200: 'application/gzip' },
		returns: { 200: null, 204: null },
	});
	const document: Tree = JSON.parse(JSON.stringify(openapi([asked], info)));
	const operation = document['paths']?.['/other']?.['get'];
	const parameters = (operation?.['parameters'] ?? []) as unknown as readonly Tree[];
	t.deepEqual(parameters.at(-1) as unknown, {
		name: 'X-Debug',
		in: 'header',
		required: false,
		description: 'Adds the reasons.',
		schema: { type: 'string', enum: ['true'] },
		example: 'true',
	});
	const headers = {
		'X-Request-ID': { $ref: '#/components/headers/X-Request-ID' },
		ETag: { $ref: '#/components/headers/ETag' },
	};
	t.deepEqual(operation?.['responses'] as unknown, {
		200: { description: 'OK', headers, content: { 'application/gzip': {} } },
		204: { description: 'No Content', headers },
		422: { $ref: '#/components/responses/Unprocessable' },
		431: { $ref: '#/components/responses/TooLong' },
	});
	t.deepEqual(Object.keys(document['components']?.['responses'] ?? {}), ['Unprocessable', 'TooLong']);
	t.deepEqual(Object.keys(document['components']?.['responses']?.['TooLong']?.['headers'] ?? {}), [
		'X-Request-ID',
		'X-Revision',
	]);
	t.deepEqual(document['components']?.['headers']?.['ETag'] as unknown, {
		required: true,
		schema: { type: 'string' },
		example: '"1"',
	});
});

test('required access is documented in the description and as a security requirement', (t) => {
	const keyed = operation('/things', 'post');
	t.deepEqual(keyed['security'] as unknown, [{ bearer: [] }]);
	t.is(keyed['x-access'] as unknown, 'keyed');
	t.is(keyed['description'] as unknown, 'The id is the name.\n\nAccess: holders of a key.');
	t.deepEqual(operation('/things', 'get')['security'] as unknown, []);
});

test('query parameters have the type of their parsed value', (t) => {
	t.deepEqual(operation('/things', 'get')['parameters'] as unknown, [
		{
			name: 'page',
			in: 'query',
			required: false,
			description: 'Which page.',
			schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1 },
			example: 1,
		},
		{ name: 'name', in: 'query', required: false, schema: { type: 'string' }, example: 'example' },
		{
			name: 'tags',
			in: 'query',
			required: false,
			schema: { type: 'array', items: { type: 'string' } },
			example: ['new'],
		},
	]);
});

test('path parameters are required', (t) => {
	t.deepEqual(operation('/things/{thing_id}', 'get')['parameters'] as unknown, [
		{ name: 'thing_id', in: 'path', required: true, schema: { type: 'string', maxLength: 40 }, example: 'abc' },
	]);
});

test('a body is a named schema with an example; an optional body is not required', (t) => {
	t.deepEqual(operation('/things', 'post')['requestBody'] as unknown, {
		required: true,
		content: {
			'application/json': {
				schema: { $ref: '#/components/schemas/ThingCreate' },
				example: { name: 'abc', size: 3 },
			},
		},
	});
	t.is(operation('/echo', 'post')['requestBody']?.['required'] as unknown, false);
});

test('the example request matches its schema', (t) => {
	for (const { name, body, example } of sampleEndpoints as readonly Endpoint<string, never>[]) {
		if (example !== undefined) t.true(body?.safeParse(example).success, name);
	}
});

test('responses show the result of the example request', (t) => {
	const shown = (path: string, method: string, status: string) =>
		operation(path, method)['responses']?.[status]?.['content']?.['application/json']?.['example'];
	const thing = { id: 'example', size: 3, note: null };
	t.deepEqual(shown('/things', 'post', '201') as unknown, thing);
	t.deepEqual(shown('/things', 'get', '200') as unknown, [thing]);
	t.deepEqual(shown('/things/{thing_id}', 'get', '200') as unknown, thing);
	t.deepEqual(shown('/things', 'post', '409') as unknown, { message: 'A thing with this name exists.' });
});

test('a response schema describes the sent value, so fields with defaults are required', (t) => {
	const thing = openapiDocument(endpoints)['components']?.['schemas']?.['Thing'];
	t.deepEqual(thing?.['required'] as unknown, ['id', 'size', 'note']);
});

const statuses: readonly (readonly [string, string, readonly string[]])[] = [
	['/things', 'get', ['200', '422', '431']],
	['/things', 'post', ['200', '201', '400', '401', '403', '409', '413', '422']],
	['/things/{thing_id}', 'get', ['200', '400', '404', '422', '431']],
	['/things/{thing_id}', 'delete', ['200', '204', '400', '404', '413', '422', '431']],
	['/leak', 'get', ['200']],
];

for (const [path, method, expected] of statuses) {
	test(`${method} ${path} can return ${expected.join(' ')}`, (t) => {
		t.deepEqual(Object.keys(operation(path, method)['responses'] ?? {}), expected);
	});
}

test('failures of an access level replace the shared failures', (t) => {
	const body = z.string().meta({ id: 'Message' });
	const access = {
		...info.access,
		open: { description: 'anyone.', secured: false },
		odd: {
			description: 'holders of a key.',
			secured: true,
			failures: { body, statuses: { 400: 'Wrong.', 401: 'No key.' } },
		},
	};
	const odd = altered({ access: 'odd', path: '/odd/*rest', failures: { 503: 'Not yet.' } });
	const document: Tree = JSON.parse(JSON.stringify(openapi([odd], { ...info, access })));
	const operation = document['paths']?.['/odd/{rest}']?.['get'];
	t.deepEqual(Object.keys(operation?.['responses'] ?? {}), ['200', '400', '401', '503']);
	t.deepEqual(operation?.['responses']?.['503'] as unknown, {
		description: 'Not yet.',
		headers: {
			'X-Request-ID': { $ref: '#/components/headers/X-Request-ID' },
			'X-Revision': { $ref: '#/components/headers/X-Revision' },
		},
		content: { 'application/json': { schema: { $ref: '#/components/schemas/Message' }, example: 'Not yet.' } },
	});
	t.is(operation?.['parameters']?.['0']?.['name'] as unknown, 'rest');
});

function altered(change: Partial<Endpoint<string, never>>): Endpoint<string, never> {
	return { ...(sampleEndpoints[0] as Endpoint<string, never>), name: 'other', path: '/other', ...change };
}

const mistakes: readonly (readonly [string, Partial<Endpoint<string, never>>, RegExp])[] = [
	['two endpoints with the same name', { name: 'listThings' }, /two endpoints are named listThings/],
	['two endpoints with the same method and path', { path: '/things' }, /two endpoints are at get \/things/],
	['a tag without a description', { tag: 'Secrets' }, /tag Secrets has no note/],
	[
		'two different headers with the same name',
		{ answerHeaders: z.object({ 'X-Request-ID': z.int() }) },
		/two different headers are named X-Request-ID/,
	],
	['an access name without a description', { access: 'secret' }, /access secret, which has no note/],
	[
		'two different schemas with the same id',
		{ returns: { 200: z.string().meta({ id: 'Thing' }) } },
		/schema id Thing is used by two different schemas/,
	],
];

for (const [title, change, message] of mistakes) {
	test(`rejects ${title}`, (t) => {
		t.throws(() => openapi([...sampleEndpoints, altered(change)], info), { message });
	});
}

test('the document is built once for concurrent requests, and other work runs in the meantime', async (t) => {
	const place = { documentPath: '/openapi.json', pagePath: '/docs', access: 'open' } as const;
	const [own] = documentationEndpoints(sampleEndpoints, place, info);
	const ask = () => Promise.resolve(own?.handle({} as never, null as never));
	let turns = 0;
	let done = false;
	const asked = Promise.all([ask(), ask()]).finally(() => {
		done = true;
	});
	while (!done) {
		await nextTurn();
		turns += 1;
	}
	const [first, second] = (await asked) as readonly { readonly bytes?: unknown }[];
	t.true(turns > sampleEndpoints.length, 'pauses after each endpoint');
	t.is(first?.bytes, second?.bytes);
});
