/**
 * Fast path for the most frequent endpoints: a single synchronous step from a complete request to its response, without
 * the router, its layers, and promises. It uses the declared schemas and responses. Unusual requests take the declared
 * path, before or after their body was read.
 */

import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { parseSmallBody } from './body.js';
import { declaredPath, type Endpoint, type LeanResult, Raw, reply } from './endpoint.js';
import { type HandedOver, handOver } from './handed-over-request.js';
import { checked, sendRaw } from './mount.js';
import { sendWhole } from './send-whole.js';

/** Any endpoint of a table. */
type AnyEndpoint = Endpoint<string, never>;

/** Request on the lean path, for its handler. */
export interface LeanRequest {
	readonly endpoint: AnyEndpoint;
	/** The validated body. */
	readonly body: unknown;
	readonly headers: IncomingHttpHeaders;
	/** Request id, sent in the `x-request-id` header. */
	readonly id: string;
	/** Unique id; differs from `id` if the client has chosen that one. */
	readonly ownId: string;
}

/** Access to the lean path, and its handlers. */
export interface LeanAccess {
	/** True if path and headers give access. Otherwise the declared path decides. */
	readonly admits: (endpoint: AnyEndpoint, headers: IncomingHttpHeaders) => boolean;
	/** Handles an admitted request. */
	readonly handle: (request: LeanRequest) => LeanResult;
}

/** Request that was served on the lean path. */
export interface LeanAnswered {
	readonly endpoint: AnyEndpoint;
	readonly request: IncomingMessage;
	readonly status: number;
	/** Time in seconds from the request head to the response. */
	readonly seconds: number;
	readonly id: string;
}

export interface LeanPathOptions {
	readonly endpoints: readonly AnyEndpoint[];
	readonly access: LeanAccess;
	/** Returns the request id: the client's, if it may be echoed, or else `ownId`. */
	readonly requestId: (path: string, sent: string | string[] | undefined, ownId: string) => string;
	/** True if the request runs in a span that began outside this program. */
	readonly isObserved: () => boolean;
	/** Called after every response. */
	readonly answered: (answered: LeanAnswered) => void;
}

/** Maximum body size for the lean path, in bytes. */
const maxBytes = 64 * 1024;

/** If a request has any of these headers, it takes the declared path. */
const unusual = [
	'transfer-encoding',
	'content-encoding',
	'expect',
	'x-min-revision',
	'x-debug',
	'upgrade',
	'origin',
] as const;

/** Result of a request: its response, or the state with which it takes the declared path. */
type Outcome = { readonly answer: Exclude<LeanResult, typeof declaredPath> } | { readonly handedOver: HandedOver };

/** Serves the lean endpoints of a table. */
export class LeanPath {
	readonly #endpoints: ReadonlyMap<string, AnyEndpoint>;
	/** JSON of response bodies, for bodies that are the same object in each response. */
	readonly #texts = new WeakMap<object, string>();

	constructor(private readonly options: LeanPathOptions) {
		this.#endpoints = new Map(
			options.endpoints.filter(({ lean }) => lean !== undefined).map((endpoint) => [endpoint.path, endpoint]),
		);
	}

	/**
	 * Takes a request if it is ordinary, and serves it when its body is complete. Returns `false` if the declared path
	 * must serve the request. `pass` passes the request to the declared path later.
	 */
	take(request: IncomingMessage, response: ServerResponse, pass: () => void): boolean {
		const endpoint = this.#endpoints.get(request.url ?? '');
		if (endpoint === undefined || !isOrdinary(request, response)) return false;
		const { access, isObserved } = this.options;
		if (isObserved() || !access.admits(endpoint, request.headers)) return false;
		const started = performance.now();
		let body: Buffer | undefined;
		request.on('data', (chunk: Buffer) => {
			body = body === undefined ? chunk : Buffer.concat([body, chunk]);
		});
		// The client may disconnect before the end of its body. In this case, the client has disconnected.
		request.on('error', ignoreError);
		request.on('end', () => {
			if (!this.#answer(request, response, { endpoint, body: body ?? noBytes, started })) pass();
		});
		return true;
	}

	/** Serves a complete request. Returns `false` if the request was handed over. */
	#answer(
		request: IncomingMessage,
		response: ServerResponse,
		{ endpoint, body, started }: { readonly endpoint: AnyEndpoint; readonly body: Buffer; readonly started: number },
	): boolean {
		const ownId = randomUUID();
		const id = this.options.requestId(endpoint.path, request.headers['x-request-id'], ownId);
		const outcome = this.#handle(endpoint, body, request.headers, id, ownId);
		if ('handedOver' in outcome) {
			handOver(request, outcome.handedOver);
			return false;
		}
		const { answer } = outcome;
		if (answer instanceof Raw) sendRaw(response, answer, id);
		else this.#send(response, endpoint, answer, id);
		const seconds = (performance.now() - started) / 1_000;
		this.options.answered({ endpoint, request, status: answer.status, seconds, id });
		return true;
	}

	#handle(endpoint: AnyEndpoint, bytes: Buffer, headers: IncomingHttpHeaders, id: string, ownId: string): Outcome {
		const valid = validBody(endpoint, bytes);
		if (valid === undefined) return { handedOver: { kind: 'refused', bytes } };
		const { data: body } = valid;
		try {
			const answer = this.options.access.handle({ endpoint, body, headers, id, ownId });
			return answer === declaredPath ? { handedOver: { kind: 'valid', body } } : { answer };
		} catch (error) {
			return { handedOver: { kind: 'failed', body, error } };
		}
	}

	#send(
		response: ServerResponse,
		endpoint: AnyEndpoint,
		{ status, body, headers }: Exclude<LeanResult, Raw | typeof declaredPath>,
		id: string,
	): void {
		const text = this.#text(endpoint, status, body);
		// Order and case are those of the declared path.
		const list = ['x-request-id', id, ...headers, 'content-type', 'application/json'];
		list.push('Content-Length', String(Buffer.byteLength(text)));
		sendWhole(response, status, list, text);
	}

	/** Returns a body as JSON, filtered by its schema. Frozen bodies are constants. */
	#text(endpoint: AnyEndpoint, status: number, body: object): string {
		const known = this.#texts.get(body);
		if (known !== undefined) return known;
		const filtered = checked(endpoint, reply(status, body));
		const text = 'body' in filtered ? JSON.stringify(filtered.body) : '';
		if (Object.isFrozen(body)) this.#texts.set(body, text);
		return text;
	}
}

const noBytes = Buffer.alloc(0);

function ignoreError(): void {}

/**
 * True if a request's method and headers allow the lean path, and no earlier request on the connection waits for its
 * response.
 */
function isOrdinary({ method, headers }: IncomingMessage, { socket }: ServerResponse): boolean {
	if (method !== 'POST' || socket === null) return false;
	const length = Number(headers['content-length']);
	if (!(length > 0 && length <= maxBytes)) return false;
	for (const name of unusual) if (headers[name] !== undefined) return false;
	return true;
}

/** Parses and validates a body. Returns `undefined` if it is rejected; the declared path then reports the reason. */
function validBody({ body: schema }: AnyEndpoint, bytes: Buffer): { readonly data: unknown } | undefined {
	try {
		const result = (schema as z.ZodType).safeParse(parseSmallBody(bytes));
		return result.success ? result : undefined;
	} catch {
		return undefined;
	}
}
