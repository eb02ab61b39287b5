import { setImmediate as immediate } from 'node:timers/promises';
import type { EventLoop } from '../../src/limit/slice-scheduler.js';

/** An event loop whose clock and turns a test moves. */
export class ManualLoop implements EventLoop {
	/** How many turns there were. */
	turn = 0;
	#now = 0;
	#waiting: (() => void)[] = [];

	now(): number {
		return this.#now;
	}

	nextTurn(): Promise<void> {
		return new Promise((resolve) => {
			this.#waiting.push(resolve);
		});
	}

	/** Lets time pass. */
	pass(milliseconds: number): void {
		this.#now += milliseconds;
	}

	/** Whether anybody waits for the next turn. */
	get isAwaited(): boolean {
		return this.#waiting.length > 0;
	}

	/** Goes through some turns, each to the end of all that follows from it. */
	async turns(count: number): Promise<void> {
		for (let left = count; left > 0; left -= 1) {
			this.turn += 1;
			const waiting = this.#waiting;
			this.#waiting = [];
			for (const resolve of waiting) resolve();
			await immediate();
		}
	}
}
