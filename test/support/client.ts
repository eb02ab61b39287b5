import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** Connections that all clients share. `fetch` would take four times the processor time of a request. */
const agent = new Agent({ keepAlive: true });

/** One answer, read to its end. */
export interface Answer<Body> {
	readonly status: number;
	readonly headers: Headers;
	/** Parsed when it is JSON, else the text; undefined when empty. */
	readonly body: Body;
	/** The `X-Revision` header as a number; undefined without one. */
	readonly revision: number | undefined;
}

/** What is sent beside method, path and body. */
export interface Extra {
	readonly headers?: Readonly<Record<string, string>>;
	/** Sent as it is, instead of a JSON body: for malformed input. */
	readonly raw?: string;
}

/** A body as a test takes it: it knows what shape it asked for and asserts on it; a wrong guess fails the assertion. */
export type Loose = Record<string, unknown>;

/** A client of one server with one key (none when undefined): requests never throw on a status. */
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

/** A client as `client` makes it. */
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
