/**
 * Fast path for the most frequent endpoints. It leads directly from Node.js to the handler, without the router and its
 * layers. It uses the declared handlers, schemas and responses. Unusual requests take the usual path.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { parseSmallBody } from './body.js';
import { type Endpoint, Raw } from './endpoint.js';
import { handOver } from './handed-over-request.js';
import { type Answer, checked, sendRaw } from './mount.js';
import { type AnyRequest, ReceivedRequest } from './received-request.js';

/** Access check for the lean path. */
export interface LeanAccess {
	/**
	 * Opens the handler context for an authorized caller, based only on path and headers. Returns `undefined` or throws
	 * if the usual path must decide.
	 */
	readonly open: (endpoint: Endpoint<string, never>, request: AnyRequest) => unknown;
}

/** Maximum body size for the lean path, in bytes. */
const maxBytes = 64 * 1024;

/** If a request has any of these headers, it takes the usual path. */
const unusual = ['transfer-encoding', 'content-encoding', 'expect', 'x-min-revision', 'upgrade'] as const;

export interface LeanRequest {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
	readonly endpoint: Endpoint<string, never>;
	readonly id: string;
}

/** Returns the lean endpoints, keyed by path. */
export function leanEndpoints(
	endpoints: readonly Endpoint<string, never>[],
): ReadonlyMap<string, Endpoint<string, never>> {
	return new Map(endpoints.filter(({ lean }) => lean).map((endpoint) => [endpoint.path, endpoint]));
}

/** True if a request's method and headers allow the lean path. */
export function isOrdinary({ method, headers }: IncomingMessage): boolean {
	if (method !== 'POST') return false;
	const length = Number(headers['content-length']);
	if (!(length > 0 && length <= maxBytes)) return false;
	for (const name of unusual) if (headers[name] !== undefined) return false;
	return true;
}

/**
 * Serves a request. Calls `answered` with the status, unless the client has disconnected. Resolves to `false` if the
 * request is handed over to the usual path.
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
		// Await only promises: most handlers return synchronously, and an `await` would cost a microtask turn.
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

/** Builds the request object for handlers. */
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

/** Parses and validates the body. Returns `undefined` if the body is invalid; the usual path then reports the error. */
function parsed({ body: schema }: Endpoint<string, never>, bytes: Buffer): { readonly data: unknown } | undefined {
	try {
		const result = (schema as z.ZodType).safeParse(parseSmallBody(bytes));
		return result.success ? result : undefined;
	} catch {
		return undefined;
	}
}

/** Reads the complete body. Resolves to `undefined` if the client disconnects first. */
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
	// Node.js accepts a flat list without a conversion.
	const headers = ['x-request-id', id, 'content-type', 'application/json'];
	headers.push('content-length', String(Buffer.byteLength(text)));
	for (const [name, value] of Object.entries(answer.headers ?? {})) headers.push(name, value);
	response.writeHead(answer.status, headers);
	response.end(text);
}
