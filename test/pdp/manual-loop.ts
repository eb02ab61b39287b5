import { setImmediate as immediate } from 'node:timers/promises';
import type { EventLoop } from '../../src/limit/slice-scheduler.js';

/** An event loop whose clock and turns the test controls. */
export class ManualLoop implements EventLoop {
	/** Turns run so far. */
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

	/** Advances the clock. */
	pass(milliseconds: number): void {
		this.#now += milliseconds;
	}

	/** True if a task waits for the next turn. */
	get isAwaited(): boolean {
		return this.#waiting.length > 0;
	}

	/** Runs several turns. After each turn, waits until all its effects are done. */
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
