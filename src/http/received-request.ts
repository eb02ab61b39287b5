import type { ServerResponse } from 'node:http';
import type { Request } from './endpoint.js';

/** A request whose types are known only to its endpoint. */
export type AnyRequest = Request<unknown, unknown, unknown>;

/**
 * A received request. It is a class because each object literal with a getter gets a separate hidden class, which would
 * slow down all code that reads requests.
 */
export class ReceivedRequest implements AnyRequest {
	readonly params: unknown;
	readonly query: unknown;
	readonly body: unknown;
	readonly headers: AnyRequest['headers'];
	readonly cookie: AnyRequest['cookie'];
	readonly target: string;
	readonly stream: AnyRequest['stream'];
	readonly id: string;
	readonly ownId: string;
	readonly #response: ServerResponse;
	#closed: AbortSignal | undefined;

	constructor(parts: Omit<AnyRequest, 'closed'>, response: ServerResponse) {
		this.params = parts.params;
		this.query = parts.query;
		this.body = parts.body;
		this.headers = parts.headers;
		this.cookie = parts.cookie;
		this.target = parts.target;
		this.stream = parts.stream;
		this.id = parts.id;
		this.ownId = parts.ownId;
		this.#response = response;
	}

	/** The signal is created on first use: few handlers need it, and creating it costs as much as a small handler. */
	get closed(): AbortSignal {
		this.#closed ??= closedSignal(this.#response);
		return this.#closed;
	}
}

/**
 * Shared by all requests: every response closes, even a complete response, and creating an error with its stack takes
 * as long as a dozen checks.
 */
const disconnected = new DOMException('the connection is closed', 'AbortError');

/** Returns a signal that aborts when the response connection closes. */
function closedSignal(response: ServerResponse): AbortSignal {
	const closed = new AbortController();
	if (response.closed) closed.abort(disconnected);
	else response.once('close', () => closed.abort(disconnected));
	return closed.signal;
}
