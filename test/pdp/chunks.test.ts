import test from 'ava';
import fc from 'fast-check';
import { runToEnd } from '../../compiler/steps.js';
import { enough, forEachChunk, forEachItem, sortedBy } from '../../src/pdp/engine/chunks.js';
import { arrayChunks, objectChunks, valueChunks } from '../../src/pdp/engine/json-chunks.js';
import { stepsIn } from '../support/steps-in.js';

/** Processing a long list in several steps gives the same result as processing it in a single step. */

test('sorting in steps gives the same result as sorting in one step', (t) => {
	const row = fc.record({ text: fc.string({ maxLength: 2 }), number: fc.nat() });
	const law = fc.property(fc.array(row, { maxLength: 50 }), fc.integer({ min: 1, max: 100 }), (rows, times) => {
		const many = Array.from({ length: times }, (_, turn) => rows.map((each) => ({ ...each, turn }))).flat();
		const order = (left: { text: string }, right: { text: string }) =>
			left.text === right.text ? 0 : left.text < right.text ? -1 : 1;
		t.deepEqual(runToEnd(sortedBy(many, ({ text }) => text)), many.toSorted(order));
	});
	t.notThrows(() => fc.assert(law, { numRuns: 60 }));
});

test('sorting pauses after about a thousand comparisons', (t) => {
	const numbers = Array.from({ length: 50_000 }, (_, index) => (index * 7919) % 50_000);
	t.true(stepsIn(sortedBy(numbers, String)) > 50 + 5 * 45);
});

test('work stops when the result is complete', (t) => {
	const seen: number[] = [];
	const run = (item: number) => {
		seen.push(item);
		return seen.length > 10 ? enough : undefined;
	};
	t.is(stepsIn(forEachItem(Array(5_000).keys(), run)), 11, 'a pause after each');
	t.deepEqual(seen, [...Array(11).keys()]);
});

test('each chunk takes about two milliseconds, and every item is in exactly one chunk', (t) => {
	const list = Array.from({ length: 5_000 }, (_, index) => index);
	for (const each of [0, 0.01, 0.5, 3]) {
		let clock = 0;
		const seen: number[] = [];
		const sizes: number[] = [];
		const run = (portion: readonly number[]) => {
			seen.push(...portion);
			sizes.push(portion.length);
			clock += portion.length * each;
		};
		const portions = forEachChunk(list, run, () => clock);
		t.is(stepsIn(portions), sizes.length + 1, 'a pause after each');
		t.deepEqual(seen, list);
		t.true(Math.max(...sizes) * each <= 4 * Math.max(each, 1), `${Math.max(...sizes)} of ${each} ms`);
	}
});

test('the joined pieces of JSON are valid JSON', (t) => {
	const members = Array.from({ length: 3_000 }, (_, index) => [`k"${index}`, `{"a":"${'x'.repeat(100)}"}`] as const);
	const pieces = runToEnd(objectChunks(members));
	t.true(pieces.length > 3);
	t.deepEqual(
		JSON.parse(pieces.join('')),
		Object.fromEntries(members.map(([key, json]) => [key, JSON.parse(json) as unknown])),
	);
	t.deepEqual(JSON.parse(runToEnd(arrayChunks(members.map(([, json]) => json))).join('')).length, members.length);
	t.deepEqual([runToEnd(objectChunks([])).join(''), runToEnd(arrayChunks([])).join('')], ['{}', '[]']);
});

test('a value written in pieces is the same as with `JSON.stringify`', (t) => {
	const law = fc.property(
		fc.jsonValue({ maxDepth: 2 }),
		fc.string({ unit: 'binary', maxLength: 8 }),
		fc.integer({ min: 1, max: 300 }),
		(value, part, times) => {
			const text = part.repeat(times * 60);
			const whole = { value, many: Array(times).fill(value), [part]: text, absent: undefined, list: [] };
			return runToEnd(valueChunks(whole)).join('') === JSON.stringify(whole);
		},
	);
	t.notThrows(() => fc.assert(law, { numRuns: 60 }));
	const pairs = Array.from({ length: 5_000 }, (_, index) => ({ tenant: `t${index}`, parts: [{ key: `k${index}` }] }));
	t.true(stepsIn(valueChunks({ pairs })) > 200);
	const faces = `a${'\u{1f600}'.repeat(500_000)}`;
	t.true(stepsIn(valueChunks(faces)) > 10);
	t.true(runToEnd(valueChunks(faces)).join('') === JSON.stringify(faces));
});
