import type { Steps } from '../../compiler/steps.js';

/** Runs work to its end. Returns the number of steps. */
export function stepsIn(steps: Steps<unknown>): number {
	let count = 1;
	while (!steps.next().done) count += 1;
	return count;
}
