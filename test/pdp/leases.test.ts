import { setImmediate as immediate } from 'node:timers/promises';
import test from 'ava';
import { Leases } from '../../src/pdp/follow/leases.js';

/** Leases keep a state for readers over several turns. A change waits until these leases end, or changes a copy. */

/** Returns leases whose clock the test controls. */
function timed() {
	const asked: number[] = [];
	const passing: (() => void)[] = [];
	const leases = new Leases(
		(milliseconds, signal) =>
			new Promise((resolve) => {
				asked.push(milliseconds);
				passing.push(() => resolve(undefined));
				signal.addEventListener('abort', () => resolve(undefined));
			}),
	);
	/** Lets all current waits time out. */
	const pass = async () => {
		for (const resolve of passing.splice(0)) resolve();
		await immediate();
	};
	return { leases, asked, pass };
}

/** Returns a promise's result, or `waits` if it is pending. */
async function soFar<T>(promise: Promise<T>): Promise<T | 'waits'> {
	return Promise.race([promise, immediate('waits' as const)]);
}

test('without readers, a change is applied in place immediately', async (t) => {
	const { leases, asked } = timed();
	t.is(await leases.settle(10), 'in place');
	t.deepEqual(asked, []);
	leases.changed();
	t.is((await leases.take('batch')).lost, false);
});

test('a change waits for a batch, and later batches wait for the change', async (t) => {
	const { leases, asked } = timed();
	const batch = await leases.take('batch');
	const settled = leases.settle(10);
	t.is(await soFar(settled), 'waits');
	t.deepEqual(asked, [1_000]);
	const later = leases.take('batch');
	t.is(await soFar(later), 'waits');
	batch.release();
	t.is(await settled, 'in place');
	t.is(await soFar(later), 'waits', 'until the change is made');
	leases.changed();
	t.is((await later).lost, false);
	t.is(batch.lost, false);
});

test('a change waits one second for a batch, and then the batch loses its revision', async (t) => {
	const { leases, pass } = timed();
	const batch = await leases.take('batch');
	const settled = leases.settle(10);
	await pass();
	t.is(await settled, 'in place');
	t.true(batch.lost);
	leases.changed();
	t.is(leases.size, 0);
});

test('a change during a listing is made in a copy, and waits only for the copying', async (t) => {
	const { leases, asked, pass } = timed();
	const listing = await leases.take('listing');
	const batch = await leases.take('batch');
	const settled = leases.settle(10);
	t.is(await soFar(settled), 'waits');
	await pass();
	t.is(await settled, 'in a copy');
	t.deepEqual(asked, [10]);
	t.deepEqual([listing.lost, batch.lost], [false, false], 'both keep the old state');
	const joined = await leases.take('listing');
	leases.replaced();
	t.deepEqual([listing.lost, batch.lost, joined.lost], [false, false, false]);
	t.is(await leases.settle(10), 'in place', 'the copy has no readers');
	leases.changed();
});

test('a change at the end of a listing is applied in place', async (t) => {
	const { leases } = timed();
	const listing = await leases.take('listing');
	const settled = leases.settle(10);
	t.is(await soFar(settled), 'waits');
	listing.release();
	t.is(await settled, 'in place');
});

test('a batch gets its full second during a listing that ends in time', async (t) => {
	const { leases, asked, pass } = timed();
	const listing = await leases.take('listing');
	const batch = await leases.take('batch');
	const settled = leases.settle(10);
	listing.release();
	await pass();
	t.is(await soFar(settled), 'waits');
	t.deepEqual(asked, [10, 1_000]);
	batch.release();
	t.is(await settled, 'in place');
	t.false(batch.lost);
});

test('at most one old state exists: a new listing loses its state at most once, and then waits', async (t) => {
	const { leases, pass } = timed();
	const first = await leases.take('listing');
	const settled = leases.settle(10);
	await pass();
	t.is(await settled, 'in a copy');
	leases.replaced();
	const second = await leases.take('listing');
	t.is(await leases.settle(10), 'in place');
	leases.changed();
	t.true(second.lost);
	const again = leases.take('listing', true);
	t.is(await soFar(again), 'waits');
	first.release();
	const kept = await again;
	const next = leases.settle(10);
	await pass();
	t.is(await next, 'in a copy');
	t.false(kept.lost);
});

test('readers keep a replaced state, unless there is already an old state', async (t) => {
	const { leases } = timed();
	const first = await leases.take('listing');
	leases.replaced();
	const others = [await leases.take('listing'), await leases.take('batch')];
	leases.replaced();
	t.false(first.lost);
	t.deepEqual(
		others.map(({ lost }) => lost),
		[true, true],
	);
	first.release();
	t.is(leases.size, 0);
});

test('all readers lose their states when all states are dropped', async (t) => {
	const { leases } = timed();
	const readers = [await leases.take('listing'), await leases.take('batch')];
	leases.lose();
	t.true(readers.every(({ lost }) => lost));
	t.is(leases.size, 0);
});
