/** Bounds work by its steps, so that the same question always gets the same answer, however busy the machine is. */

/** The reason when the steps are used up. */
export class WorkSpent extends Error {
	override readonly name = 'WorkSpent';
}

/** How many steps are done between two pauses. */
const stride = 100;

/** A number of steps that may be done: nodes and links visited. */
export class WorkLimit {
	#done = 0;

	/** @param steps how many steps may be done. */
	constructor(readonly steps: number) {}

	/** Counts one step, or several; true when it is time for a pause. Throws `WorkSpent` when there are none left. */
	step(steps = 1): boolean {
		const before = Math.floor(this.#done / stride);
		this.#done += steps;
		if (this.#done > this.steps) throw new WorkSpent();
		return Math.floor(this.#done / stride) > before;
	}
}
