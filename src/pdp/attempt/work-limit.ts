/** Limits calculations by counting steps, so the same query always has the same result, even on a busy machine. */

/** Thrown when all steps are used. */
export class WorkSpent extends Error {
	override readonly name = 'WorkSpent';
}

/** Number of steps between two pauses. */
const stride = 100;

/** Step budget for visiting nodes and links, and for comparisons. */
export class WorkLimit {
	#done = 0;

	/** @param steps maximum number of steps. */
	constructor(readonly steps: number) {}

	/** Counts steps. Returns true when it is time for a pause. Throws `WorkSpent` if the budget is exceeded. */
	step(steps = 1): boolean {
		const before = Math.floor(this.#done / stride);
		this.#done += steps;
		if (this.#done > this.steps) throw new WorkSpent();
		return Math.floor(this.#done / stride) > before;
	}
}
