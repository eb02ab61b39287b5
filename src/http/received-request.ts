import type { ServerResponse } from 'node:http';
import type { Request } from './endpoint.js';

/** A request whose types only its own endpoint knows. */
export type AnyRequest = Request<unknown, unknown, unknown>;

/**
 * A request that was received. A class, and not a literal with a getter: each of those would have a hidden class of its
 * own, and all code that reads requests would be slow.
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
		this.#response = response;
	}

	/** Made when it is first asked for: few handlers ask, and it costs as much as a small handler. */
	get closed(): AbortSignal {
		this.#closed ??= closedSignal(this.#response);
		return this.#closed;
	}
}

/** Aborts when the connection of an answer is closed. */
function closedSignal(response: ServerResponse): AbortSignal {
	const closed = new AbortController();
	if (response.closed) closed.abort();
	else response.once('close', () => closed.abort());
	return closed.signal;
}
