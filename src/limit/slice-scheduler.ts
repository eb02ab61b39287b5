/** Runs long work in slices, one slice per event loop turn. Short requests therefore do not wait for it. */

import type { Steps } from '../../compiler/steps.js';
import { nextTurn } from './next-turn.js';

/** Clock and event loop turns. Tests replace them. */
export interface EventLoop {
	/** Returns milliseconds on a monotonic clock. */
	now(): number;
	/** Resolves in the next turn, after all other work. */
	nextTurn(): Promise<unknown>;
}

/** Options for a piece of work. */
export interface WorkOptions {
	/** Called before each slice. If it returns false, the work rejects with `WorkCancelled`. */
	readonly wanted?: () => boolean;
	/** Called with the duration of each slice in milliseconds. If it throws, the work ends. */
	readonly spend?: (milliseconds: number) => void;
}

/** Thrown when work is canceled. */
export class WorkCancelled extends Error {
	override readonly name = 'NotWanted';
}

/** Maximum time in milliseconds of work per turn. Checks that arrive during the slice wait for its end. */
const slice = 5;

const eventLoop: EventLoop = { now: () => performance.now(), nextTurn };

interface Task {
	/** Runs a slice until about the time `end`. Returns false if no work is left. */
	slice(end: number): boolean;
}

/** All long work in a process, in round-robin order. All tasks together take one slice per turn. */
export class SliceScheduler {
	readonly #loop: EventLoop;
	readonly #queue: Task[] = [];
	/** Milliseconds left in this turn's slice. */
	#left = slice;
	#turning = false;

	constructor(loop: EventLoop = eventLoop) {
		this.#loop = loop;
	}

	/** Number of unfinished tasks. */
	get running(): number {
		return this.#queue.length;
	}

	/** Runs `steps` to their result. Rejects with their errors, or with `WorkCancelled`. */
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

	/**
	 * Runs `steps` to their result in this turn. Returns `undefined` if this turn has no time left, or if the steps take
	 * longer than a slice or than `most` milliseconds; they are then abandoned.
	 */
	runAtOnce<T>(steps: Steps<T>, most: number): { readonly value: T } | undefined {
		if (this.#left <= 0 || this.#queue.length > 0) return undefined;
		const start = this.#loop.now();
		const end = start + Math.min(most, slice);
		try {
			return runSlice(steps, () => this.#loop.now() >= end);
		} finally {
			steps.return(undefined as T);
			this.#left -= this.#loop.now() - start;
			this.#beginTurns();
		}
	}

	/** Starts a task immediately if time remains in this turn, so short work does not wait. */
	#begin(task: Task): void {
		if (this.#left <= 0 || this.#queue.length > 0 || this.#slice(task)) this.#queue.push(task);
		this.#beginTurns();
	}

	#beginTurns(): void {
		if (this.#turning) return;
		this.#turning = true;
		void this.#turn();
	}

	async #turn(): Promise<void> {
		do {
			await this.#loop.nextTurn();
			this.#left = slice;
			// If a task ends early, the next task gets its remaining time.
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
