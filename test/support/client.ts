import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** Connections shared by all clients. `fetch` would need four times the CPU time per request. */
const agent = new Agent({ keepAlive: true });

/** A complete response. */
export interface Answer<Body> {
	readonly status: number;
	readonly headers: Headers;
	/** The parsed JSON, or the text if the body is not JSON; undefined if the body is empty. */
	readonly body: Body;
	/** `X-Revision` header as a number; undefined if absent. */
	readonly revision: number | undefined;
}

/** Optional request parts. */
export interface Extra {
	readonly headers?: Readonly<Record<string, string>>;
	/** Raw text instead of a JSON body, for malformed input. */
	readonly raw?: string;
}

/** Untyped body. A test knows the requested shape and asserts on it, so a wrong guess makes the assertion fail. */
export type Loose = Record<string, unknown>;

/** Returns a client for a server, which sends `key` if it is set. Requests never throw because of a status. */
export function client(url: string, key?: string) {
	async function send<Body = Loose>(
		method: string,
		path: string,
		body?: unknown,
		extra: Extra = {},
	): Promise<Answer<Body>> {
		const payload = extra.raw ?? (body === undefined ? undefined : JSON.stringify(body));
		const headers = {
			...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
			...(payload === undefined ? {} : jsonHeaders(payload)),
			...extra.headers,
		};
		const response = await exchange(url + path, method, headers, payload);
		const revision = response.headers['x-revision'];
		return {
			status: response.statusCode ?? 0,
			get headers() {
				return new Headers(
					Object.entries(response.headersDistinct).map(([name, values = []]) => [name, values.join(', ')]),
				);
			},
			body: parse(await text(response)) as Body,
			revision: revision === undefined ? undefined : Number(revision),
		};
	}
	return {
		send,
		get: <Body = Loose>(path: string, extra?: Extra) => send<Body>('GET', path, undefined, extra),
		post: <Body = Loose>(path: string, body?: unknown, extra?: Extra) => send<Body>('POST', path, body, extra),
		put: <Body = Loose>(path: string, body?: unknown, extra?: Extra) => send<Body>('PUT', path, body, extra),
		patch: <Body = Loose>(path: string, body?: unknown, extra?: Extra) => send<Body>('PATCH', path, body, extra),
		delete: <Body = Loose>(path: string, body?: unknown, extra?: Extra) => send<Body>('DELETE', path, body, extra),
	};
}

export type Client = ReturnType<typeof client>;

function jsonHeaders(payload: string): Readonly<Record<string, string>> {
	return { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) };
}

function exchange(
	url: string,
	method: string,
	headers: Readonly<Record<string, string>>,
	payload: string | undefined,
): Promise<IncomingMessage> {
	return new Promise((resolve, reject) => {
		const sent = request(url, { method, headers, agent }, resolve).on('error', reject);
		sent.end(payload);
	});
}

function parse(written: string): unknown {
	if (written === '') return undefined;
	try {
		return JSON.parse(written);
	} catch {
		return written;
	}
}
