/** Runs long work in slices, one slice for each turn of the event loop, so that short requests do not wait for it. */

import type { Steps } from '../../compiler/steps.js';
import { nextTurn } from './next-turn.js';

/** The clock and the turns of the event loop; tests bring their own. */
export interface EventLoop {
	/** Milliseconds on a clock that never goes back. */
	now(): number;
	/** Resolves in the next turn, after everybody else had theirs. */
	nextTurn(): Promise<unknown>;
}

/** Options of one piece of work. */
export interface WorkOptions {
	/** Asked before each slice. Work that is no longer wanted rejects with `WorkCancelled`. */
	readonly wanted?: () => boolean;
	/** Called with the milliseconds that each slice took. What it throws ends the work. */
	readonly spend?: (milliseconds: number) => void;
}

/** The reason when work was given up. */
export class WorkCancelled extends Error {
	override readonly name = 'NotWanted';
}

/** How long the work of one turn may take, in milliseconds: checks that arrive meanwhile wait for it. */
const slice = 5;

const eventLoop: EventLoop = { now: () => performance.now(), nextTurn };

interface Task {
	/** Does one slice that ends about at `end`; false when nothing is left to do. */
	slice(end: number): boolean;
}

/** All long work of one process, in round-robin order. Together it takes one slice of each turn. */
export class SliceScheduler {
	readonly #loop: EventLoop;
	readonly #queue: Task[] = [];
	/** What is left of this turn's slice, in milliseconds. */
	#left = slice;
	#turning = false;

	constructor(loop: EventLoop = eventLoop) {
		this.#loop = loop;
	}

	/** The number of pieces of work that have begun and not ended. */
	get running(): number {
		return this.#queue.length;
	}

	/** Runs the work. Rejects with whatever it throws, and with `WorkCancelled`. */
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

	/** Starts a task at once if there is time left in this turn, so that short work does not wait. */
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
