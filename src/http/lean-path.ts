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
import { type Answer, checked, sendRaw } from './mount.js';
import { type AnyRequest, ReceivedRequest } from './received-request.js';

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
 * Answers a request. Calls `answered` with the status, unless the client is gone. Resolves to false when the request is
 * handed over to the usual path.
 */
export async function answerLean(
	given: LeanRequest,
	{ open }: LeanAccess,
	answered: (status: number) => void,
): Promise<boolean> {
	const { request, response, endpoint, id } = given;
	let context: unknown;
	try {
		context = open(endpoint, leanRequest(given, undefined));
	} catch {
		return false;
	}
	if (context === undefined) return false;
	const body = await readWhole(request);
	if (body === undefined) return true;
	const value = parsed(endpoint, body);
	if (value === undefined) {
		handOver(request, { body, failure: null });
		return false;
	}
	let answer: Answer;
	try {
		const made = endpoint.handle(leanRequest(given, value.data), context as never);
		// Most handlers answer at once: awaiting a value costs a turn of the queue of promises.
		answer = checked(endpoint, made instanceof Promise ? await made : made);
	} catch (error) {
		handOver(request, { body, failure: { error } });
		return false;
	}
	send(response, answer, id);
	answered(answer.status);
	return true;
}

const noParameters = {};

function noCookie(): undefined {}

/** A request as handlers get it. */
function leanRequest({ request, response, id }: LeanRequest, body: unknown): AnyRequest {
	const parts = {
		params: noParameters,
		query: noParameters,
		body,
		headers: request.headers as Readonly<Record<string, string | undefined>>,
		cookie: noCookie,
		target: request.url ?? '',
		stream: () => request,
		id,
	};
	return new ReceivedRequest(parts, response);
}

/** The body as the endpoint's schema makes it; `undefined` when it is refused, which the usual path words. */
function parsed({ body: schema }: Endpoint<string, never>, bytes: Buffer): { readonly data: unknown } | undefined {
	try {
		const result = (schema as z.ZodType).safeParse(parseSmallBody(bytes));
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
	// A flat list: Node.js takes it as it is.
	const headers = ['x-request-id', id, 'content-type', 'application/json'];
	headers.push('content-length', String(Buffer.byteLength(text)));
	for (const [name, value] of Object.entries(answer.headers ?? {})) headers.push(name, value);
	response.writeHead(answer.status, headers);
	response.end(text);
}
