import test from 'ava';
import fc from 'fast-check';
import { applyDiff, type DiffHunk, diffCounts, diffLines } from '../../src/console/model/policy/line-diff.js';

/** Diff between two texts. */

const line = fc.constantFrom('', 'a', 'b', 'c', '}', '\tx := 1', 'ß\u{202e}', '+a', '\r');
const text = fc.array(line, { maxLength: 40 }).map((lines) => lines.join('\n'));
const maxEdits = fc.constantFrom(1, 2, 5, 500);

function kept(
	diff: readonly DiffHunk[],
	other: 'added' | 'removed',
): readonly (readonly [number, readonly string[]])[] {
	return diff.map(({ before, after, lines }) => [
		other === 'added' ? before : after,
		lines.filter(({ kind }) => kind !== other).map((one) => one.text),
	]);
}

test('a diff, applied, gives the other text, and its lines stand where it says', (t) => {
	fc.assert(
		fc.property(text, text, maxEdits, (before, after, most) => {
			const diff = diffLines(before, after, { maxEdits: most });
			t.is(applyDiff(before, diff), after);
			for (const [start, lines] of kept(diff, 'added'))
				t.deepEqual(before.split('\n').slice(start - 1, start - 1 + lines.length), lines);
			for (const [start, lines] of kept(diff, 'removed'))
				t.deepEqual(after.split('\n').slice(start - 1, start - 1 + lines.length), lines);
		}),
		{ numRuns: 2000 },
	);
});

test('a diff is the shortest', (t) => {
	fc.assert(
		fc.property(text, text, (before, after) => {
			const { added, removed } = diffCounts(diffLines(before, after));
			const [left, right] = [before.split('\n'), after.split('\n')];
			t.is(added + removed, left.length + right.length - 2 * commonLength(left, right));
		}),
		{ numRuns: 1000 },
	);
});

/** Returns the length of the longest common subsequence. */
function commonLength(left: readonly string[], right: readonly string[]): number {
	let row = new Array<number>(right.length + 1).fill(0);
	for (const one of left) {
		const next = [0];
		for (const [index, other] of right.entries())
			next.push(one === other ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
		row = next;
	}
	return row.at(-1) ?? 0;
}

test('a diff shows three lines around a difference, and joins what is near', (t) => {
	const numbers = Array.from({ length: 40 }, (_, index) => `${index + 1}`);
	const changed = numbers.with(9, 'ten').with(16, 'seventeen').with(29, 'thirty');
	const diff = diffLines(numbers.join('\n'), changed.join('\n'));
	t.deepEqual(
		diff.map(({ before, after, lines }) => [before, after, lines.length]),
		[
			[7, 7, 16],
			[27, 27, 8],
		],
	);
	t.deepEqual(
		diff[1]?.lines.map(({ kind, text: said }) => `${kind} ${said}`),
		['same 27', 'same 28', 'same 29', 'removed 30', 'added thirty', 'same 31', 'same 32', 'same 33'],
	);
	t.deepEqual(diffLines('a\n', 'a\n'), []);
	t.deepEqual(diffCounts(diffLines('', 'a\nb\n')), { added: 2, removed: 0 });
});

test('texts of many lines without a common one are told apart', (t) => {
	const lines = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word} ${index}`).join('\n');
	const diff = diffLines(lines('a'), lines('b'));
	t.deepEqual(diffCounts(diff), { added: 20_000, removed: 20_000 });
	t.is(applyDiff(lines('a'), diff), lines('b'));
});
