import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum number of concurrent requests per connection. Responses are sent in request order. */
export const maxHandled = 8;

/** Maximum waiting requests per connection. If more arrive, the connection is closed. */
export const maxWaiting = 256;

/** Pipelined requests on a connection, sent without waiting for the responses (HTTP pipelining). */
export class Pipeline {
	/** Response to the request received last. */
	lastAnswer: ServerResponse | undefined;
	readonly #socket: Socket;
	readonly #waiting: (() => Promise<void>)[] = [];
	#handled = 0;

	/** After the connection closes, no further requests are started. */
	constructor(socket: Socket) {
		this.#socket = socket;
		socket.once('close', () => this.#waiting.splice(0));
	}

	/** Handles a request immediately or queues it. `handle` must not reject. */
	add(handle: () => Promise<void>): void {
		if (this.#handled < maxHandled) this.#begin(handle);
		else if (this.#waiting.length < maxWaiting) this.#waiting.push(handle);
		else this.#socket.destroy();
	}

	#begin(handle: () => Promise<void>): void {
		this.#handled += 1;
		void handle().then(this.#end);
	}

	readonly #end = (): void => {
		// Let other connections run before the next waiting request.
		if (this.#waiting.length > 0) setImmediate(() => this.#next());
		else this.#handled -= 1;
	};

	#next(): void {
		this.#handled -= 1;
		const next = this.#waiting.shift();
		if (next !== undefined) this.#begin(next);
	}
}
