import test from 'ava';
import { runToEnd, type Steps } from '../../compiler/steps.js';
import { SliceScheduler, WorkCancelled } from '../../src/limit/slice-scheduler.js';
import { ManualLoop } from './manual-loop.js';

/** Long work runs in several turns, on an event loop and a clock controlled by the test. */

/** Runs `count` steps of `milliseconds` each, and reports each completed step to `done`. */
function* steps(loop: ManualLoop, count: number, milliseconds: number, done: (turn: number) => void): Steps<string> {
	for (let step = 0; step < count; step += 1) {
		loop.pass(milliseconds);
		done(loop.turn);
		yield;
	}
	return `${count} steps`;
}

test('short work is done immediately, and takes at most five milliseconds of each turn', async (t) => {
	const loop = new ManualLoop();
	const turns = new SliceScheduler(loop);
	const seen: number[] = [];
	const running = Array.from({ length: 4 }, () => turns.run(steps(loop, 2, 1, (turn) => seen.push(turn))));
	t.deepEqual(seen, [0, 0, 0, 0, 0], 'later work waits');
	await loop.turns(5);
	t.deepEqual(seen, [0, 0, 0, 0, 0, 1, 1, 1]);
	t.deepEqual(
		await Promise.all(running),
		Array.from({ length: 4 }, () => '2 steps'),
	);
});

test('all long work shares one slice per turn, in rotation', async (t) => {
	const loop = new ManualLoop();
	const turns = new SliceScheduler(loop);
	const seen: string[] = [];
	const names = ['a', 'b', 'c'];
	const running = names.map((name) => turns.run(steps(loop, 10, 1, (turn) => seen.push(`${name}${turn}`))));
	await loop.turns(12);
	await Promise.all(running);
	for (let turn = 0; turn < 6; turn += 1) {
		const inTurn = seen.filter((each) => each.endsWith(`${turn}`));
		t.is(inTurn.length, 5, `turn ${turn}`);
		t.is(new Set(inTurn).size, 1, 'one at a time');
	}
	t.deepEqual([seen[0], seen[5], seen[10], seen[15]], ['a0', 'a1', 'b2', 'c3']);
});

test('work that throws, exceeds its limit or is canceled ends without affecting other work', async (t) => {
	const loop = new ManualLoop();
	const turns = new SliceScheduler(loop);
	let wanted = true;
	let spent = 0;
	const cleared: string[] = [];
	function* clearing(name: string): Steps<void> {
		try {
			yield* steps(loop, 100, 1, () => undefined);
		} finally {
			cleared.push(name);
		}
	}
	function* failing(): Steps<void> {
		yield;
		throw new Error('a bug');
	}
	const failed = t.throwsAsync(turns.run(failing()), { message: 'a bug' });
	const unwanted = t.throwsAsync(turns.run(clearing('unwanted'), { wanted: () => wanted }), {
		instanceOf: WorkCancelled,
	});
	const spend = (milliseconds: number) => {
		spent += milliseconds;
		if (spent > 20) throw new Error('too much');
	};
	const dear = t.throwsAsync(turns.run(clearing('dear'), { spend }), { message: 'too much' });
	const other = turns.run(steps(loop, 100, 1, () => undefined));
	await loop.turns(4);
	wanted = false;
	await loop.turns(60);
	await Promise.all([failed, unwanted, dear]);
	t.is(await other, '100 steps');
	t.deepEqual(cleared, ['unwanted', 'dear']);
});

test('steps in one turn give the same result as steps in several turns', (t) => {
	const loop = new ManualLoop();
	t.is(runToEnd(steps(loop, 7, 1, () => undefined)), '7 steps');
});

test('immediate work finishes in its turn or is abandoned, and uses the turn’s time', async (t) => {
	const loop = new ManualLoop();
	const turns = new SliceScheduler(loop);
	const none = () => undefined;
	t.is(turns.runAtOnce(steps(loop, 2, 1, none), 1_000)?.value, '2 steps');
	t.is(turns.runAtOnce(steps(loop, 3, 1, none), 2), undefined, 'longer than its limit');
	t.is(turns.runAtOnce(steps(loop, 100, 1, none), 1_000), undefined, 'longer than a slice');
	t.is(turns.runAtOnce(steps(loop, 1, 1, none), 1_000), undefined, 'no time is left in this turn');
	const others = [turns.run(steps(loop, 12, 1, none)), turns.run(steps(loop, 12, 1, none))];
	await loop.turns(1);
	t.is(turns.runAtOnce(steps(loop, 1, 1, none), 1_000), undefined, 'other work already waits');
	await loop.turns(6);
	await Promise.all(others);
	t.is(turns.runAtOnce(steps(loop, 1, 1, none), 1_000)?.value, '1 steps');
});
