/**
 * A fast path for endpoints that are called very often: straight from Node.js to the handler, past the router and its
 * layers. Handlers, schemas and answers are those of the declarations, and whatever is out of the ordinary takes the
 * usual path.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { parseSmallBody } from './body.js';
import { type Endpoint, Raw } from './endpoint.js';
import { handOver } from './handed-over-request.js';
import { type Answer, type AnyRequest, checked, closedSignal, sendRaw } from './mount.js';

/** What a lean path needs besides the declarations. */
export interface LeanAccess {
	/**
	 * Opens the context of a handler by path and headers alone, for callers who may call it. Gives `undefined`, or
	 * throws, where the usual path has to decide.
	 */
	readonly open: (endpoint: Endpoint<string, never>, request: AnyRequest) => unknown;
}

/** The largest body that takes the lean path, in bytes. */
const maxBytes = 64 * 1024;

/** What a request brings that is out of the ordinary. */
const unusual = ['transfer-encoding', 'content-encoding', 'expect', 'x-min-revision', 'upgrade'] as const;

/** One request on the lean path. */
export interface LeanRequest {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
	readonly endpoint: Endpoint<string, never>;
	readonly id: string;
}

/** The endpoints that have a lean path, by path. */
export function leanEndpoints(
	endpoints: readonly Endpoint<string, never>[],
): ReadonlyMap<string, Endpoint<string, never>> {
	return new Map(endpoints.filter(({ lean }) => lean).map((endpoint) => [endpoint.path, endpoint]));
}

/** Whether a request may take the lean path, by its method and headers. */
export function isOrdinary({ method, headers }: IncomingMessage): boolean {
	if (method !== 'POST') return false;
	const length = Number(headers['content-length']);
	if (!(length > 0 && length <= maxBytes)) return false;
	for (const name of unusual) if (headers[name] !== undefined) return false;
	return true;
}

/**
 * Answers a request; resolves to its status. Resolves to `undefined` when it is handed over to the usual path, and to 0 when
 * the client is gone.
 */
export async function answerLean(given: LeanRequest, { open }: LeanAccess): Promise<number | undefined> {
	const { request, response, endpoint, id } = given;
	let context: unknown;
	try {
		context = open(endpoint, leanRequest(given, undefined));
	} catch {
		return undefined;
	}
	if (context === undefined) return undefined;
	const body = await readWhole(request);
	if (body === undefined) return 0;
	const value = await parsed(endpoint, body);
	if (value === undefined) {
		handOver(request, { body, failure: null });
		return undefined;
	}
	let answer: Answer;
	try {
		answer = checked(endpoint, await endpoint.handle(leanRequest(given, value.data), context as never));
	} catch (error) {
		handOver(request, { body, failure: { error } });
		return undefined;
	}
	send(response, answer, id);
	return answer.status;
}

/** A request as handlers get it. Not spread from another: that would make the signal, which few ask for. */
function leanRequest({ request, response, id }: LeanRequest, body: unknown): AnyRequest {
	return {
		params: {},
		query: {},
		body,
		headers: request.headers as Readonly<Record<string, string | undefined>>,
		cookie: () => undefined,
		get closed() {
			return closedSignal(response);
		},
		target: request.url ?? '',
		stream: () => request,
		id,
	};
}

/** The body as the endpoint's schema makes it; `undefined` when it is refused, which the usual path words. */
async function parsed(
	{ body: schema }: Endpoint<string, never>,
	bytes: Buffer,
): Promise<{ readonly data: unknown } | undefined> {
	try {
		const result = await (schema as z.ZodType).safeParseAsync(parseSmallBody(bytes));
		return result.success ? result : undefined;
	} catch {
		return undefined;
	}
}

/** All of a body; `undefined` when the client goes away first. */
function readWhole(request: IncomingMessage): Promise<Buffer | undefined> {
	return new Promise((resolve) => {
		let whole: Buffer | undefined;
		request.on('data', (chunk: Buffer) => {
			whole = whole === undefined ? chunk : Buffer.concat([whole, chunk]);
		});
		request.once('end', () => resolve(whole ?? Buffer.alloc(0)));
		request.once('error', () => resolve(undefined));
		request.once('close', () => resolve(undefined));
	});
}

function send(response: ServerResponse, answer: Answer, id: string): void {
	if (answer instanceof Raw) {
		sendRaw(response, answer, id);
		return;
	}
	const text = 'body' in answer ? JSON.stringify(answer.body) : '';
	const length = Buffer.byteLength(text);
	const headers = { ...answer.headers, 'content-type': 'application/json', 'content-length': length };
	response.writeHead(answer.status, { 'x-request-id': id, ...headers });
	response.end(text);
}
