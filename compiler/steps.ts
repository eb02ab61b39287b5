/** Interruptible work. The generator yields at least every few hundred microseconds. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Runs all steps without a pause. */
export function runToEnd<T>(steps: Steps<T>): T {
	for (;;) {
		const step = steps.next();
		if (step.done) return step.value;
	}
}

/** Maps items, with pauses. */
export function* mapInSteps<T, R>(items: readonly T[], run: (item: T) => R): Steps<R[]> {
	const pauses = new Pauses(500);
	const results: R[] = [];
	for (const item of items) {
		if (pauses.step()) yield;
		results.push(run(item));
	}
	return results;
}

/** Counts work, and signals when to pause. */
export class Pauses {
	#done = 0;

	/** @param stride number of steps between two pauses */
	constructor(private readonly stride = 1_000) {}

	/** Counts a step. Returns true when it is time for a pause. */
	step(): boolean {
		this.#done += 1;
		return this.#done % this.stride === 0;
	}
}
