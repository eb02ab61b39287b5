import test from 'ava';
import { writeAhead } from '../../src/store/unit/write-ahead.js';

test('the next statement is prepared during the current statement, and sent after it', async (t) => {
	const steps: string[] = [];
	const prepare = (chunk: number) => {
		steps.push(`prepare ${chunk}`);
		return async () => {
			steps.push(`send ${chunk}`);
			await new Promise(setImmediate);
			steps.push(`end ${chunk}`);
			return chunk * 10;
		};
	};
	const answers: number[] = [];
	for await (const answer of writeAhead([1, 2, 3], prepare)) answers.push(answer);
	t.deepEqual(answers, [10, 20, 30]);
	t.deepEqual(steps.slice(0, 6), ['prepare 1', 'send 1', 'prepare 2', 'end 1', 'send 2', 'prepare 3']);
	for await (const _ of writeAhead([], prepare)) t.fail();
});

test('rejects with the first failed statement, and sends no statement after it', async (t) => {
	const sent: number[] = [];
	const prepare = (chunk: number) => async () => {
		sent.push(chunk);
		await new Promise(setImmediate);
		if (chunk > 1) throw new Error(`statement ${chunk} failed`);
		return chunk;
	};
	const answers: number[] = [];
	await t.throwsAsync(
		async () => {
			for await (const answer of writeAhead([1, 2, 3], prepare)) answers.push(answer);
		},
		{ message: 'statement 2 failed' },
	);
	t.deepEqual([answers, sent], [[1], [1, 2]]);
});
