import test from 'ava';
import fc from 'fast-check';
import { type DiffHunk, diffCounts, diffLines } from '../../src/console/model/policy/line-diff.js';

/** Line differences between two texts. */

const line = fc.constantFrom('', 'a', 'b', 'c', '}', '\tx := 1', 'ß\u{202e}', '+a', '\\', '\r');
const text = fc.array(line, { maxLength: 40 }).map((lines) => lines.map((one) => `${one}\n`).join(''));

test('applying a diff gives the new text, and its line numbers are correct', (t) => {
	fc.assert(
		fc.property(text, text, (before, after) => {
			const diff = diffLines(before, after);
			t.is(applyDiff(before, diff), after);
			for (const { before: start, lines } of diff) {
				const old = lines.filter(({ kind }) => kind !== 'added').map((one) => one.text);
				t.deepEqual(before.split('\n').slice(start - 1, start - 1 + old.length), old);
			}
		}),
		{ numRuns: 2000 },
	);
});

/** Applies a diff to the old text and returns the new text. */
function applyDiff(before: string, diff: readonly DiffHunk[]): string {
	const lines = before.split('\n');
	for (const hunk of diff) {
		const texts = hunk.lines.filter(({ kind }) => kind !== 'removed').map((one) => one.text);
		const old = hunk.lines.filter(({ kind }) => kind !== 'added').length;
		// Earlier hunks have already moved the lines to their new places.
		lines.splice(hunk.after - 1, old, ...texts);
	}
	return lines.join('\n');
}

test('a diff shows three lines around a difference, and merges adjacent differences', (t) => {
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
	t.deepEqual(diffLines('a', 'a\n'), [
		{
			before: 1,
			after: 1,
			lines: [
				{ kind: 'removed', text: 'a' },
				{ kind: 'added', text: 'a' },
			],
		},
	]);
	t.deepEqual(diffCounts(diffLines('', 'a\nb\n')), { added: 2, removed: 0 });
});

test('very different texts are replaced completely', (t) => {
	const lines = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word} ${index}\n`).join('');
	const diff = diffLines(lines('a'), lines('b'));
	t.deepEqual(diffCounts(diff), { added: 20_000, removed: 20_000 });
	t.deepEqual(
		diff.map(({ before, after, lines: rows }) => [before, after, rows.length]),
		[
			[1, 1, 20_000],
			[1, 1, 20_000],
		],
	);
});
