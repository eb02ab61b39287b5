import test from 'ava';
import type { Deciding } from '../../src/pdp/decide.js';
import { paced, parts, type Steps } from '../../src/pdp/paced.js';

/** Long listings: of one revision, while others have their turn. */

/** A decision point whose revision goes on with every turn of the event loop, `changes` times. */
function writing(changes: number) {
	let revision = 1;
	const next = () => {
		revision += 1;
		if (revision <= changes) setImmediate(next);
	};
	if (changes > 0) setImmediate(next);
	// Nothing but the revision is looked at.
	return () => ({ revision }) as Deciding;
}

/** Work of three steps that tells at which revisions it began and ended. */
function working(now: () => Deciding) {
	const began: number[] = [];
	const work = function* ({ revision }: Deciding): Steps<string> {
		began.push(revision);
		for (let step = 0; step < 3; step += 1) yield;
		return `${revision} at ${now().revision}`;
	};
	return { began, work };
}

test('work without a change is done once', async (t) => {
	const now = writing(0);
	const { began, work } = working(now);
	t.deepEqual(await paced(now, work), { revision: 1, result: '1 at 1' });
	t.deepEqual(began, [1]);
});

test('a change begins it anew', async (t) => {
	const now = writing(1);
	const { began, work } = working(now);
	t.deepEqual(await paced(now, work), { revision: 2, result: '2 at 2' });
	t.deepEqual(began, [1, 2]);
});

test('changes without end do not keep it from its end', async (t) => {
	const now = writing(1_000);
	const { began, work } = working(now);
	const { revision, result } = await paced(now, work);
	t.is(began.length, 4);
	t.is(result, `${revision} at ${revision}`);
});

test('rejects when there is nothing to read any more', async (t) => {
	let asked = 0;
	const now = () => {
		asked += 1;
		if (asked > 1) throw new Error('dropped');
		return { revision: 1 } as Deciding;
	};
	const { work } = working(() => ({ revision: 1 }) as Deciding);
	await t.throwsAsync(paced(now, work), { message: 'dropped' });
});

test('parts are of at most that size and hold everything', (t) => {
	t.deepEqual([...parts([1, 2, 3, 4, 5], 2)], [[1, 2], [3, 4], [5]]);
	t.deepEqual([...parts([], 2)], []);
});
