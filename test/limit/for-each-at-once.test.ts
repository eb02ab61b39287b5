import test from 'ava';
import { forEachAtOnce } from '../../src/limit/for-each-at-once.js';

/** Returns a function that runs for the given number of turns, and records its begin and end in `steps`. */
function noting(steps: string[], failing: readonly number[] = []) {
	return async (turns: number): Promise<void> => {
		steps.push(`begin ${turns}`);
		for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
		steps.push(`end ${turns}`);
		if (failing.includes(turns)) throw new Error(`${turns} failed`);
	};
}

test('items begin in order, and at most two run at the same time', async (t) => {
	const steps: string[] = [];
	await forEachAtOnce([3, 1, 5, 2], 2, noting(steps));
	t.deepEqual(steps, ['begin 3', 'begin 1', 'end 1', 'begin 5', 'end 3', 'begin 2', 'end 2', 'end 5']);
	await forEachAtOnce([], 2, async () => t.fail());
});

test('after a failure, no items begin, and the call is rejected when all running items have ended', async (t) => {
	const steps: string[] = [];
	await t.throwsAsync(forEachAtOnce([4, 2, 1, 9], 2, noting(steps, [4, 2])), { message: '2 failed' });
	t.deepEqual(steps, ['begin 4', 'begin 2', 'end 2', 'end 4']);
});
