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
			...(payload === undefined ? {} : { 'content-type': 'application/json' }),
			...extra.headers,
		};
		const response = await fetch(url + path, { method, headers, ...(payload === undefined ? {} : { body: payload }) });
		const revision = response.headers.get('x-revision');
		return {
			status: response.status,
			headers: response.headers,
			body: parse(await response.text()) as Body,
			revision: revision === null ? undefined : Number(revision),
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

function parse(text: string): unknown {
	if (text === '') return undefined;
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
