import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The most requests of one connection that are handled at once. Their answers are sent in order, whichever is ready
 * first.
 */
export const maxHandled = 8;

/** The most requests of one connection that may wait. A connection that sends more is cut. */
export const maxWaiting = 256;

/** The requests of one connection whose client does not wait for the answers (HTTP pipelining). */
export class Pipeline {
	/** The answer to the last request that was received. */
	lastAnswer: ServerResponse | undefined;
	readonly #socket: Socket;
	readonly #waiting: (() => Promise<void>)[] = [];
	#handled = 0;

	/** A closed connection starts no further requests. */
	constructor(socket: Socket) {
		this.#socket = socket;
		socket.once('close', () => this.#waiting.splice(0));
	}

	/** Handles a request, now or when it is its turn. `handle` does not reject. */
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
		// Other connections get a turn before the requests that wait here.
		if (this.#waiting.length > 0) setImmediate(() => this.#next());
		else this.#handled -= 1;
	};

	#next(): void {
		this.#handled -= 1;
		const next = this.#waiting.shift();
		if (next !== undefined) this.#begin(next);
	}
}
