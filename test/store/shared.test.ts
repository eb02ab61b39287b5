import test from 'ava';
import { Shared } from '../../src/store/shared.js';

/** Those who ask the same at once share an answer, but never one that was looked for before they asked. */

test('who asks while it is being found out shares the next answer with the others who do', async (t) => {
	const shared = new Shared<string>();
	let truth = 'old';
	let looks = 0;
	const look = async () => {
		looks += 1;
		const seen = truth;
		await Promise.resolve();
		return seen;
	};
	const first = shared.ask('a', look);
	truth = 'new';
	const others = [shared.ask('a', look), shared.ask('a', look), shared.ask('a', look)];
	const elsewhere = shared.ask('b', look);
	t.is(looks, 2, 'another name does not wait');
	t.is(await first, 'old');
	t.deepEqual(await Promise.all(others), ['new', 'new', 'new']);
	t.is(await elsewhere, 'new');
	t.is(looks, 3);
	truth = 'newest';
	t.is(await shared.ask('a', look), 'newest');
});

test('a failure is of those who share it, and of nobody after them', async (t) => {
	const shared = new Shared<string>();
	const failing = (message: string) => () => Promise.reject(new Error(message));
	const first = shared.ask('a', failing('one'));
	const second = shared.ask('a', failing('two'));
	const third = shared.ask('a', failing('three'));
	await t.throwsAsync(first, { message: 'one' });
	await t.throwsAsync(second, { message: 'two' });
	await t.throwsAsync(third, { message: 'two' });
	t.is(await shared.ask('a', async () => 'fine'), 'fine');
});
