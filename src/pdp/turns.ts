/** Long work in slices, one slice a turn of the event loop, so that nobody who asks something short has to wait. */

import { setImmediate as immediate } from 'node:timers/promises';
import type { Steps } from './engine/steps.js';

/** What turns are measured and told apart by; tests bring their own. */
export interface EventLoop {
	/** Milliseconds on a clock that never goes back. */
	now(): number;
	/** Resolves once everybody else had a turn. */
	nextTurn(): Promise<unknown>;
}

/** How one piece of work is done. */
export interface Doing {
	/** Asked before each slice; work that is not wanted any more rejects with `NotWanted`. */
	readonly wanted?: () => boolean;
	/** Told what each slice took, in milliseconds; what it throws ends the work. */
	readonly spend?: (milliseconds: number) => void;
}

/** Why work was given up. */
export class NotWanted extends Error {
	override readonly name = 'NotWanted';
}

/** How long the work of one turn may take, in milliseconds: a check that comes meanwhile waits for it. */
const slice = 5;

const eventLoop: EventLoop = { now: () => performance.now(), nextTurn: () => immediate() };

interface Task {
	/** Does one slice that ends about at `end`; false when nothing is left to do. */
	slice(end: number): boolean;
}

/** All long work of one process: it is done by turns, and all of it together takes one slice of each turn. */
export class Turns {
	readonly #loop: EventLoop;
	readonly #queue: Task[] = [];
	/** What is left of this turn's slice, in milliseconds. */
	#left = slice;
	#turning = false;

	constructor(loop: EventLoop = eventLoop) {
		this.#loop = loop;
	}

	/** Does the work. Rejects with whatever it throws, and with `NotWanted`. */
	run<T>(steps: Steps<T>, { wanted = () => true, spend }: Doing = {}): Promise<T> {
		return new Promise((resolve, reject) => {
			this.#begin({
				slice: (end) => {
					const start = this.#loop.now();
					try {
						if (!wanted()) throw new NotWanted();
						const done = advance(steps, () => this.#loop.now() >= end);
						spend?.(this.#loop.now() - start);
						if (done !== undefined) resolve(done.value);
						return done === undefined;
					} catch (error) {
						steps.return(undefined as T);
						reject(error);
						return false;
					}
				},
			});
		});
	}

	/** Short work is done at once, as long as there is time left in this turn. */
	#begin(task: Task): void {
		if (this.#left <= 0 || this.#queue.length > 0 || this.#slice(task)) this.#queue.push(task);
		if (this.#turning) return;
		this.#turning = true;
		void this.#turn();
	}

	async #turn(): Promise<void> {
		do {
			await this.#loop.nextTurn();
			this.#left = slice;
			// What is done early leaves its time to the next one.
			for (let task = this.#queue.shift(); task !== undefined; task = this.#queue.shift()) {
				if (this.#slice(task)) this.#queue.push(task);
				if (this.#left <= 0) break;
			}
		} while (this.#queue.length > 0 || this.#left < slice);
		this.#turning = false;
	}

	#slice(task: Task): boolean {
		const start = this.#loop.now();
		const goesOn = task.slice(start + this.#left);
		this.#left -= this.#loop.now() - start;
		return goesOn;
	}
}

/** The parts of a list, each of at most `size`. */
export function* parts<T>(list: readonly T[], size: number): Iterable<readonly T[]> {
	for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size);
}

function advance<T>(steps: Steps<T>, enough: () => boolean): { readonly value: T } | undefined {
	do {
		const step = steps.next();
		if (step.done) return step;
	} while (!enough());
	return undefined;
}
