import { Failure } from '../failure.js';

/** How many may take turns. */
export interface TurnLimits {
	/** How many names have a turn at a time. */
	readonly running: number;
	/** How many wait for the turn of one name. */
	readonly waiting: number;
}

interface Waiting {
	readonly name: string;
	readonly begin: () => void;
}

/** Turns under names, such as environments: one at a time for each name, in the order in which they were asked for. */
export class Turns {
	readonly #running = new Set<string>();
	#waiting: Waiting[] = [];
	#stopped = false;

	constructor(private readonly limits: TurnLimits) {}

	/** Whether somebody has the turn of a name. */
	isTaken(name: string): boolean {
		return this.#running.has(name);
	}

	/**
	 * Waits for the turn of a name; `end` gives it back. Rejects with `Failure`: `busy` when too many wait, and
	 * `unavailable` when the client goes away first, or turns are stopped.
	 */
	async wait(name: string, closed: AbortSignal): Promise<void> {
		const before = this.#waiting.filter((other) => other.name === name).length;
		if (before >= this.limits.waiting) {
			const message = `${before} requests of this kind wait for the environment already: try again in a few seconds`;
			throw new Failure('busy', message);
		}
		return new Promise((resolve, reject) => {
			const leave = () => {
				this.#waiting = this.#waiting.filter((other) => other !== waiting);
				reject(clientGone());
			};
			const begin = () => {
				closed.removeEventListener('abort', leave);
				if (this.#stopped) reject(new Failure('unavailable', 'the server stops'));
				else resolve();
			};
			const waiting = { name, begin };
			closed.addEventListener('abort', leave);
			this.#waiting.push(waiting);
			if (closed.aborted) leave();
			this.#next();
		});
	}

	/** Gives a turn back, so that the next begins. */
	end(name: string): void {
		this.#running.delete(name);
		this.#next();
	}

	/** Refuses whatever waits, from now on. */
	stop(): void {
		this.#stopped = true;
		const waiting = this.#waiting;
		this.#waiting = [];
		for (const { begin } of waiting) begin();
	}

	/** Begins whatever can be begun. */
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

/** Why work ends that nobody waits for any more. */
export function clientGone(): Failure {
	return new Failure('unavailable', 'the client went away');
}
