import { Failure } from '../failure.js';

export interface TurnLimits {
	/** Maximum number of names with a turn at the same time. */
	readonly running: number;
	/** Maximum waiting requests per name. */
	readonly waiting: number;
}

interface Waiting {
	readonly name: string;
	readonly begin: () => void;
}

/**
 * Turns, keyed by a name such as an environment. Each name has one turn at a time, and requests get it in arrival
 * order.
 */
export class Turns {
	readonly #running = new Set<string>();
	#waiting: Waiting[] = [];
	#stopped = false;

	constructor(private readonly limits: TurnLimits) {}

	isTaken(name: string): boolean {
		return this.#running.has(name);
	}

	/**
	 * Waits for a name's turn. The caller must give it back with `end`. Rejects with `Failure`: `busy` if too many
	 * requests wait, and `unavailable` if the client disconnects first or `stop` is called.
	 */
	async wait(name: string, closed: AbortSignal): Promise<void> {
		const before = this.#waiting.filter((other) => other.name === name).length;
		if (before >= this.limits.waiting) {
			const message = `${before} requests of this kind are already queued for the environment: try again in a few seconds`;
			throw new Failure('busy', message);
		}
		return new Promise((resolve, reject) => {
			const leave = () => {
				this.#waiting = this.#waiting.filter((other) => other !== waiting);
				reject(clientGone());
			};
			const begin = () => {
				closed.removeEventListener('abort', leave);
				if (this.#stopped) reject(new Failure('unavailable', 'the server is stopping'));
				else resolve();
			};
			const waiting = { name, begin };
			closed.addEventListener('abort', leave);
			this.#waiting.push(waiting);
			if (closed.aborted) leave();
			this.#next();
		});
	}

	/** Gives a turn back, so the next turn can begin. */
	end(name: string): void {
		this.#running.delete(name);
		this.#next();
	}

	/** Rejects all current and future waits. */
	stop(): void {
		this.#stopped = true;
		const waiting = this.#waiting;
		this.#waiting = [];
		for (const { begin } of waiting) begin();
	}

	/** Begins as many turns as the limits allow. */
	#next(): void {
		for (const waiting of [...this.#waiting]) {
			if (this.#running.size >= this.limits.running) return;
			if (this.#running.has(waiting.name)) continue;
			this.#waiting = this.#waiting.filter((other) => other !== waiting);
			this.#running.add(waiting.name);
			waiting.begin();
		}
	}
}

/** Returns the failure for work whose client no longer waits. */
export function clientGone(): Failure {
	return new Failure('unavailable', 'the client disconnected');
}
