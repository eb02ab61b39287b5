import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import Router from '@koa/router';
import type { Context as KoaContext } from 'koa';
import type { z } from 'zod';
import { unprocessable } from '../failure.js';
import { streamBody } from './body.js';
import { type Deprecation, type Endpoint, type LargeBody, Raw, type Reply, type Returns } from './endpoint.js';
import { validatedBody } from './handed-over-request.js';
import { type Part, problemsIn } from './problem.js';
import { type AnyRequest, ReceivedRequest } from './received-request.js';
import { refuseNearMisses } from './refuse-near-misses.js';
import { requireUnicode } from './require-unicode.js';

/** Handler response, in the form declared by the endpoint. */
export type Answer = Reply<Returns> | Raw;

/** The remaining steps of a request, after `Surround` has opened the handler context. */
export interface Run {
	/** Validates the request if this has not been done, runs the handler, and checks its response. */
	(context: unknown): Promise<Answer>;
	/** True if part of the body has not arrived yet. */
	waits(): boolean;
	/** Validates the request early, before an expensive context is opened. Throws `unprocessable`. */
	validate(): Promise<void>;
	/**
	 * Reads the body early, at most `bytes` of it, without validating it. For callers that identify themselves in the
	 * body. Throws `invalid` and `too_large`.
	 */
	readBody(bytes: number): Promise<unknown>;
}

/**
 * Wraps every handler in a table: identifies the caller, opens the context for the access rule, runs the handler, and
 * closes the context. Throws `Failure` to reject a request. `params` are the decoded path parameters. The body has not
 * been read at this point, so unauthorized callers are rejected based only on path and headers, unless the access rule
 * requires `readBody`.
 */
export type Surround = (endpoint: Endpoint<string, never>, request: AnyRequest, run: Run) => Promise<Answer>;

/** Parses a part of a request. Throws `unprocessable` with the first problems and their locations. */
export async function parsePart<S extends z.ZodType>(schema: S, part: Part, value: unknown): Promise<z.output<S>> {
	const parsed = await schema.safeParseAsync(value, { reportInput: true });
	if (parsed.success) return parsed.data;
	throw unprocessable(problemsIn(part, parsed.error.issues));
}

/** Filters a response through its declared schema. Throws if the handler returned an undeclared response. */
export function checked(endpoint: Endpoint<string, never>, answer: Answer): Answer {
	if (answer instanceof Raw) return answer;
	if (!(answer.status in endpoint.returns)) {
		throw new Error(`${endpoint.name} returned ${answer.status}, which it does not declare`);
	}
	const schema = endpoint.returns[answer.status];
	if (schema === null || schema === undefined) {
		return { status: answer.status, ...(answer.headers && { headers: answer.headers }) };
	}
	const body = 'body' in answer ? answer.body : undefined;
	// The spread keeps the status and the headers, and the schema filters the body.
	return { ...answer, body: schema.parse(body) } as Answer;
}

/** Maximum number of chunks that are sent in a single step. A chunk of JSON has little more than 64 KiB. */
const maxJoined = 4;

/** Sends raw bytes with the request id. */
export function sendRaw(response: ServerResponse, { status, headers, bytes }: Raw, id: string): void {
	response.writeHead(status, { 'x-request-id': id, ...headers });
	if (typeof bytes === 'string' || bytes instanceof Uint8Array) response.end(bytes);
	else if (bytes.length <= maxJoined) response.end(bytes.join(''));
	// The bytes are sent at the speed at which the client reads. A disconnect is not a failure.
	else pipeline(Readable.from(bytes, { objectMode: false }), response, () => {});
}

function send(ctx: KoaContext, answer: Answer): void {
	ctx.status = answer.status;
	if (answer instanceof Raw) {
		// On status 304, Koa drops the content type, which long-polling clients read. The response is therefore written
		// directly.
		ctx.respond = false;
		sendRaw(ctx.res, answer, ctx.state['id']);
		return;
	}
	for (const [name, value] of Object.entries(answer.headers ?? {})) ctx.set(name, value);
	if ('body' in answer && answer.body !== undefined) {
		ctx.body = JSON.stringify(answer.body);
		ctx.set('content-type', 'application/json');
	} else {
		ctx.body = null;
	}
	// Koa sets status 204 for a null body.
	ctx.status = answer.status;
}

/**
 * Reads a request body as JSON, regardless of its content type. Returns `undefined` if there is no body. `large`
 * replaces the server's limits, and `lines` permits JSON lines.
 */
export type BodyReader = (ctx: KoaContext, large: LargeBody | undefined, lines: boolean) => Promise<unknown>;

/**
 * Serves a table of endpoints. For each request, it matches the endpoint, parses the request, calls `surround` and the
 * handler, and filters the response. Every declared endpoint is served here, except on the lean path.
 */
export function mount(endpoints: readonly Endpoint<string, never>[], surround: Surround, readBody: BodyReader): Router {
	const router = new Router({ sensitive: true, strict: true });
	for (const endpoint of endpoints) {
		const layer = router.register(endpoint.path, [endpoint.method], async (ctx: RoutedContext) => {
			ctx.state['endpoint'] = endpoint;
			if (endpoint.secret) ctx.set('cache-control', 'no-store');
			if (endpoint.deprecated) ctx.set(deprecationHeaders(endpoint.deprecated, ctx.params));
			const request = unreadRequest(ctx);
			const run = createRun(
				endpoint,
				() => !ctx.req.complete,
				(large) => readBody(ctx, large, endpoint.lines === true),
				(body) => readRequest(endpoint, ctx, request, body),
			);
			send(ctx, await surround(endpoint, request, run));
		});
		if (endpoint.withoutHead) layer.methods = layer.methods.filter((method) => method !== 'HEAD');
	}
	return router;
}

type RoutedContext = KoaContext & { readonly params: Record<string, string> };

/** Builds the request for `surround`. Its parts are unchecked, and its body is unread. */
function unreadRequest(ctx: RoutedContext): AnyRequest {
	const parts = {
		params: ctx.params,
		query: ctx.query,
		body: undefined,
		headers: ctx.headers as Readonly<Record<string, string | undefined>>,
		cookie: (name: string) => ctx.cookies.get(name),
		target: ctx.url,
		stream: () => streamBody(ctx.req, ctx.res),
		id: ctx.state['id'],
		ownId: ctx.state['ownId'],
	};
	return new ReceivedRequest(parts, ctx.res);
}

/** Reads the body after `surround` has identified the caller, and validates the request. */
async function readRequest(
	endpoint: Endpoint<string, never>,
	ctx: RoutedContext,
	request: AnyRequest,
	readBody: () => Promise<unknown>,
): Promise<AnyRequest> {
	if (ctx.querystring.includes('%')) requireUnicode(ctx.querystring);
	if (endpoint.query && ctx.querystring !== '') refuseNearMisses(endpoint.query, ctx.query);
	const known = validatedBody(ctx.req);
	const body = endpoint.body === undefined || known !== undefined ? undefined : await readBody();
	const parts = {
		params: endpoint.params ? await parsePart(endpoint.params, 'path', request.params) : request.params,
		query: endpoint.query ? await parsePart(endpoint.query, 'query', request.query) : request.query,
		body: known === undefined ? endpoint.body && (await parsePart(endpoint.body, 'body', body)) : known.body,
		headers: request.headers,
		cookie: request.cookie,
		target: request.target,
		stream: request.stream,
		id: request.id,
		ownId: request.ownId,
	};
	return new ReceivedRequest(parts, ctx.res);
}

/** Returns the headers from RFC 9745, with a link relation from RFC 5829. */
function deprecationHeaders({ since, successor }: Deprecation, params: Readonly<Record<string, string>>) {
	const path = successor.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
	return { deprecation: `@${Date.parse(since) / 1000}`, link: `<${path}>; rel="successor-version"` };
}

/** Returns the remaining steps for `surround`. The body and the request are read on first use, and at most once. */
function createRun(
	endpoint: Endpoint<string, never>,
	waits: () => boolean,
	readBody: (large: LargeBody | undefined) => Promise<unknown>,
	read: (body: () => Promise<unknown>) => Promise<AnyRequest>,
): Run {
	let body: Promise<unknown> | undefined;
	let reading: Promise<AnyRequest> | undefined;
	const readBodyOnce = (large: LargeBody | undefined) => {
		body ??= readBody(large);
		return body;
	};
	const readOnce = () => {
		reading ??= read(() => readBodyOnce(endpoint.largeBody));
		return reading;
	};
	// The cast is safe, because `surround` opened the context for this endpoint's `access`: see `declaring`.
	const run = async (context: unknown) => checked(endpoint, await endpoint.handle(await readOnce(), context as never));
	return Object.assign(run, {
		waits,
		validate: async () => {
			await readOnce();
		},
		readBody: (bytes: number) => readBodyOnce({ bytes, mapLevel: 1 }),
	});
}
