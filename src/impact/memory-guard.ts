import type { Steps } from '../../compiler/steps.js';
import { EngineError } from '../pdp/engine/engine.js';

/** The work would take more memory than the process may have. */
export class TooLarge extends Error {
	override readonly name = 'TooLarge';
}

/** How much work is done between two looks at the memory, in milliseconds. */
const interval = 20;

/** Runs work in one go, and ends it when the process has more memory than it may. */
export class MemoryGuard {
	#next = 0;

	/**
	 * @param most how much resident memory the process may have, in bytes.
	 * @param read reads how much it has.
	 */
	constructor(
		private readonly most: number,
		private readonly read: () => number = () => process.memoryUsage.rss(),
	) {}

	/** Runs work to its end. Throws `TooLarge`, and what the work throws. */
	run = async <T>(steps: Steps<T>): Promise<T> => {
		for (;;) {
			const step = steps.next();
			if (step.done) return step.value;
			if (performance.now() >= this.#next) this.check();
		}
	};

	/** Throws `TooLarge` when the process has more memory than it may. */
	check(): void {
		if (this.read() > this.most) throw new TooLarge(`it would take more than ${Math.floor(this.most / 2 ** 20)} MiB`);
		this.#next = performance.now() + interval;
	}
}

/** Whether a failure says that there is no more memory. */
export function isTooLarge(error: unknown): boolean {
	return (
		error instanceof TooLarge ||
		error instanceof RangeError ||
		(error instanceof EngineError && /memory/i.test(error.message))
	);
}
