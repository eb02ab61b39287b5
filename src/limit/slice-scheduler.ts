/** Runs long work in slices, a slice per event loop turn, so short requests do not wait for it. */

import type { Steps } from '../../compiler/steps.js';
import { nextTurn } from './next-turn.js';

/** Clock and event loop turns, replaceable in tests. */
export interface EventLoop {
	/** Milliseconds on a monotonic clock. */
	now(): number;
	/** Resolves in the next turn, after all other work. */
	nextTurn(): Promise<unknown>;
}

/** Work options. */
export interface WorkOptions {
	/** Called before each slice. Work that is no longer wanted rejects with `WorkCancelled`. */
	readonly wanted?: () => boolean;
	/** Called with the milliseconds of each slice. An error ends the work. */
	readonly spend?: (milliseconds: number) => void;
}

/** Thrown when work is cancelled. */
export class WorkCancelled extends Error {
	override readonly name = 'NotWanted';
}

/** Maximum milliseconds of work per turn. Checks that arrive during the slice wait for it. */
const slice = 5;

const eventLoop: EventLoop = { now: () => performance.now(), nextTurn };

interface Task {
	/** Runs a slice until about `end`. Returns false when no work is left. */
	slice(end: number): boolean;
}

/** All long work in a process, in round-robin order. Together, it takes a slice per turn. */
export class SliceScheduler {
	readonly #loop: EventLoop;
	readonly #queue: Task[] = [];
	/** Milliseconds left in this turn's slice. */
	#left = slice;
	#turning = false;

	constructor(loop: EventLoop = eventLoop) {
		this.#loop = loop;
	}

	/** Number of unfinished pieces of work. */
	get running(): number {
		return this.#queue.length;
	}

	/** Runs the work. Rejects with its errors, and with `WorkCancelled`. */
	run<T>(steps: Steps<T>, { wanted = () => true, spend }: WorkOptions = {}): Promise<T> {
		return new Promise((resolve, reject) => {
			this.#begin({
				slice: (end) => {
					const start = this.#loop.now();
					try {
						if (!wanted()) throw new WorkCancelled();
						const done = runSlice(steps, () => this.#loop.now() >= end);
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

	/** Starts a task immediately if this turn has time left, so short work does not wait. */
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
			// Work that ends early leaves its time to the next task.
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

function runSlice<T>(steps: Steps<T>, enough: () => boolean): { readonly value: T } | undefined {
	do {
		const step = steps.next();
		if (step.done) return step;
	} while (!enough());
	return undefined;
}
