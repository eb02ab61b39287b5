import { z } from 'zod';
import { catalogue, Failure, forbidden } from '../../src/failure.js';
import { declaring, Raw, reply } from '../../src/http/endpoint.js';
import type { Surround } from '../../src/http/mount.js';

/** A small endpoint table with every declarable feature, for server and document tests. */

interface Caller {
	readonly caller: string;
}

const endpoint = declaring<{ readonly open: null; readonly keyed: Caller }>();

const Thing = z
	.object({ id: z.string(), size: z.int(), note: z.string().nullable().default(null) })
	.meta({ id: 'Thing' });

const ThingCreate = z
	.object({
		name: z.string().max(5),
		size: z.int(),
		parts: z.array(z.object({ count: z.int() })).optional(),
	})
	.meta({ id: 'ThingCreate' });

const thingParams = z.object({ thing_id: z.string().max(40) });

export const sampleEndpoints = [
	endpoint({
		name: 'listThings',
		summary: 'List things.',
		tag: 'Things',
		method: 'get',
		path: '/things',
		access: 'open',
		query: z.object({
			page: z
				.preprocess((value) => (typeof value === 'string' ? Number(value) : value), z.int().min(1))
				.default(1)
				.meta({ description: 'Which page.' }),
			name: z.string().optional(),
			tags: z.array(z.string()).optional(),
		}),
		returns: { 200: z.array(Thing) },
		handle: ({ query }) => reply(200, [{ id: query.name ?? 'none', size: query.page }]),
	}),
	endpoint({
		name: 'createThing',
		summary: 'Create a thing.',
		description: 'The id is the name.',
		tag: 'Things',
		method: 'post',
		path: '/things',
		access: 'keyed',
		body: ThingCreate,
		example: { name: 'abc', size: 3 },
		returns: { 200: Thing, 201: Thing },
		failures: { 409: 'A thing with this name exists.' },
		handle: ({ body }, { caller }) => {
			const made = { id: body.name, size: body.size, note: caller };
			return body.size > 0 ? reply(201, made, { 'X-Revision': '7' }) : reply(200, made);
		},
	}),
	endpoint({
		name: 'getThing',
		summary: 'Get a thing.',
		tag: 'Things',
		method: 'get',
		path: '/things/:thing_id',
		access: 'open',
		params: thingParams,
		returns: { 200: Thing },
		failures: { 404: 'No such thing.' },
		handle: ({ params }) => reply(200, { id: params.thing_id, size: 1 }),
	}),
	endpoint({
		name: 'deleteThing',
		summary: 'Delete a thing, with a reason in the body.',
		tag: 'Things',
		method: 'delete',
		path: '/things/:thing_id',
		access: 'open',
		params: thingParams,
		body: z.object({ reason: z.string() }),
		returns: { 204: null, 200: z.object({ reason: z.string() }) },
		handle: ({ params, body }) => (params.thing_id === 'quiet' ? reply(204) : reply(200, { reason: body.reason })),
	}),
	endpoint({
		name: 'echo',
		summary: 'Return the body.',
		tag: 'Oddities',
		method: 'post',
		path: '/echo',
		access: 'open',
		body: z.unknown(),
		returns: { 200: z.object({ body: z.unknown() }) },
		handle: ({ body }) => reply(200, { body: body ?? 'nothing' }),
	}),
	endpoint({
		name: 'leak',
		summary: 'Return an undeclared field.',
		tag: 'Oddities',
		method: 'get',
		path: '/leak',
		access: 'open',
		returns: { 200: Thing },
		handle: () => reply(200, { id: 'a', size: 1, secret: 'hunter2' }),
	}),
	endpoint({
		name: 'misfit',
		summary: 'Violate the declaration.',
		tag: 'Oddities',
		method: 'get',
		path: '/misfit/:how',
		access: 'open',
		params: z.object({ how: z.enum(['status', 'body', 'crash', 'duplicate', 'undeclared-body']) }),
		returns: { 200: Thing, 202: null },
		handle: ({ params }) => {
			// The casts simulate a handler that returns a wrong response without a compile error.
			switch (params.how) {
				case 'status':
					return { status: 206, body: { id: 'hunter2', size: 1 } } as never;
				case 'body':
					return { status: 200, body: { id: 'hunter2', size: 'big' } } as never;
				case 'undeclared-body':
					return { status: 202, body: { secret: 'hunter2' } } as never;
				case 'duplicate':
					throw new Failure('duplicate', 'a thing with key `a` already exists', { key: 'a' });
				default:
					throw new Error('hunter2');
			}
		},
	}),
	endpoint({
		name: 'feed',
		summary: 'Return raw bytes.',
		tag: 'Oddities',
		method: 'get',
		path: '/feed/:status',
		access: 'open',
		params: z.object({ status: z.enum(['200', '304']) }),
		returns: { 200: null, 304: null },
		handle: ({ params }) =>
			new Raw(
				Number(params.status),
				{ 'content-type': 'application/vnd.sample', etag: '"1"' },
				params.status === '200' ? new Uint8Array([0, 255]) : '',
			),
	}),
] as const;

/** Allows only callers with the header `authorization: Bearer good` to call `keyed` endpoints. */
export const sampleSurround: Surround = async (endpoint, request, run) => {
	if (endpoint.access === 'open') return run(null);
	const given = request.headers['authorization'];
	if (given === undefined) throw new Failure('unauthorized', 'an API key is needed');
	if (given !== 'Bearer good') throw forbidden('this key does not open things');
	return run({ caller: 'good' });
};

/** Renders failures for the sample server. */
export function renderSampleFailure(failure: Failure, requestId: string): unknown {
	if (failure.code === 'unprocessable') return { detail: failure.problems };
	const { error_code, title } = catalogue[failure.code];
	return { id: requestId, title, error_code, message: failure.message, additional_info: failure.info };
}
