import test from 'ava';
import { SingleFlight } from '../../src/store/database/single-flight.js';

/** Concurrent equal requests share a result. They never share a result whose computation began before the request. */

test('callers that arrive during a read share the next result', async (t) => {
	const shared = new SingleFlight<string>();
	let truth = 'old';
	let looks = 0;
	const look = async () => {
		looks += 1;
		const seen = truth;
		await Promise.resolve();
		return seen;
	};
	const first = shared.share('a', look);
	truth = 'new';
	const others = [shared.share('a', look), shared.share('a', look), shared.share('a', look)];
	const elsewhere = shared.share('b', look);
	t.is(looks, 2, 'a different name does not wait');
	t.is(await first, 'old');
	t.deepEqual(await Promise.all(others), ['new', 'new', 'new']);
	t.is(await elsewhere, 'new');
	t.is(looks, 3);
	truth = 'newest';
	t.is(await shared.share('a', look), 'newest');
});

test('a failure reaches only the callers that share it', async (t) => {
	const shared = new SingleFlight<string>();
	const failing = (message: string) => () => Promise.reject(new Error(message));
	const first = shared.share('a', failing('one'));
	const second = shared.share('a', failing('two'));
	const third = shared.share('a', failing('three'));
	await t.throwsAsync(first, { message: 'one' });
	await t.throwsAsync(second, { message: 'two' });
	await t.throwsAsync(third, { message: 'two' });
	t.is(await shared.share('a', async () => 'fine'), 'fine');
});
