import type { Steps } from '../../compiler/steps.js';
import { EngineError } from '../pdp/engine/engine.js';

/** The calculation would exceed the process's memory limit. */
export class TooLarge extends Error {
	override readonly name = 'TooLarge';
}

/** Time between two memory checks, in milliseconds. */
const interval = 20;

/** Runs steps without pauses, and aborts if the process exceeds its memory limit. */
export class MemoryGuard {
	#next = 0;

	/** @param most maximum resident memory in bytes. @param read returns the current resident memory in bytes. */
	constructor(
		private readonly most: number,
		private readonly read: () => number = () => process.memoryUsage.rss(),
	) {}

	/** Runs all steps. Throws `TooLarge`, and any error thrown by a step. */
	run = async <T>(steps: Steps<T>): Promise<T> => {
		for (;;) {
			const step = steps.next();
			if (step.done) return step.value;
			if (performance.now() >= this.#next) this.check();
		}
	};

	/** Throws `TooLarge` if the process exceeds its memory limit. */
	check(): void {
		if (this.read() > this.most) throw new TooLarge(`it would take more than ${Math.floor(this.most / 2 ** 20)} MiB`);
		this.#next = performance.now() + interval;
	}
}

/** True if an error means that memory is exhausted. */
export function isTooLarge(error: unknown): boolean {
	return (
		error instanceof TooLarge ||
		error instanceof RangeError ||
		(error instanceof EngineError && /memory/i.test(error.message))
	);
}
