import test from 'ava';
import { KeyedQueue } from '../../src/store/unit/keyed-queue.js';

/** Work under the same name runs in order, even after a failure. Work under different names does not wait. */

/** Returns a promise and its settling functions. */
function gate() {
	let open = () => {};
	let close = (_: Error) => {};
	const passed = new Promise<void>((resolve, reject) => {
		open = resolve;
		close = reject;
	});
	return { passed, open, close };
}

test('work with the same name runs in order, and work with a different name does not wait', async (t) => {
	const turns = new KeyedQueue();
	const seen: string[] = [];
	const first = gate();
	const take = (name: string, label: string, before = Promise.resolve()) =>
		turns.runAlone(name, async () => {
			seen.push(`${label} begins`);
			await before;
			seen.push(`${label} ends`);
			return label;
		});
	const waiting = [take('a', 'one', first.passed), take('a', 'two'), take('a', 'three')];
	t.is(await take('b', 'other'), 'other');
	t.deepEqual(seen, ['one begins', 'other begins', 'other ends']);
	first.open();
	t.deepEqual(await Promise.all(waiting), ['one', 'two', 'three']);
	const rest = ['one ends', 'two begins', 'two ends', 'three begins', 'three ends'];
	t.deepEqual(seen, ['one begins', 'other begins', 'other ends', ...rest]);
});

test('consecutive waiting members are taken together, up to the next work that runs alone', async (t) => {
	const taken: string[][] = [];
	const first = gate();
	const turns = new KeyedQueue<string>(async (name, next) => {
		const members: string[] = [];
		// Takes at most two members.
		for (let member = next(); member !== undefined; member = members.length < 2 ? next() : undefined)
			members.push(member);
		taken.push([name, ...members]);
	});
	const alone = turns.runAlone('a', () => first.passed);
	for (const member of ['one', 'two', 'three']) turns.enqueue('a', member);
	const between = turns.runAlone('a', async () => taken.push(['between']));
	turns.enqueue('a', 'four');
	turns.enqueue('b', 'other');
	t.deepEqual(taken, [['b', 'other']]);
	first.open();
	await alone;
	await between;
	await turns.runAlone('a', async () => {});
	t.deepEqual(taken.slice(1), [['a', 'one', 'two'], ['a', 'three'], ['between'], ['a', 'four']]);
	turns.enqueue('a', 'later');
	await turns.runAlone('a', async () => {});
	t.deepEqual(taken.at(-1), ['a', 'later']);
});

test('a failure affects only its caller', async (t) => {
	const turns = new KeyedQueue();
	const first = gate();
	const failing = turns.runAlone('a', () => first.passed);
	const throwing = turns.runAlone('a', () => {
		throw new Error('at once');
	});
	const next = turns.runAlone('a', async () => 'runs');
	first.close(new Error('the first fails'));
	await t.throwsAsync(failing, { message: 'the first fails' });
	await t.throwsAsync(throwing, { message: 'at once' });
	t.is(await next, 'runs');
	t.is(await turns.runAlone('a', async () => 'and later'), 'and later');
});
