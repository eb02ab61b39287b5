export interface DiffLine {
	readonly kind: 'same' | 'removed' | 'added';
	/** Without its line feed. */
	readonly text: string;
}

/** Differing lines with up to three equal lines around them. */
export interface DiffHunk {
	/** First line number in the old text, from 1. For a hunk without old lines, the number of the following line. */
	readonly before: number;
	/** First line number in the new text. */
	readonly after: number;
	readonly lines: readonly DiffLine[];
}

interface DiffOptions {
	/** Maximum edits per stretch. A higher limit takes longer and gives a shorter diff. */
	readonly maxEdits?: number;
}

/** Equal lines on each side of a difference. */
const context = 3;

/**
 * Compares two texts by lines; returns no hunks for equal texts. The diff is minimal (Myers, An O(ND) Difference
 * Algorithm and Its Variations) within stretches with fewer than `maxEdits` edits. Longer stretches are split, so time
 * grows with lines times `maxEdits`, and memory with `maxEdits` squared.
 */
export function diffLines(before: string, after: string, { maxEdits = 500 }: DiffOptions = {}): readonly DiffHunk[] {
	if (before === after) return [];
	return hunks(editedLines(before.split('\n'), after.split('\n'), maxEdits));
}

/** Applies a diff to the old text and returns the new text. */
export function applyDiff(before: string, diff: readonly DiffHunk[]): string {
	const lines = before.split('\n');
	const result: string[] = [];
	let taken = 0;
	for (const hunk of diff) {
		result.push(...lines.slice(taken, hunk.before - 1));
		result.push(...hunk.lines.filter(({ kind }) => kind !== 'removed').map(({ text }) => text));
		taken = hunk.before - 1 + hunk.lines.filter(({ kind }) => kind !== 'added').length;
	}
	return result.concat(lines.slice(taken)).join('\n');
}

/** Counts the added and removed lines. */
export function diffCounts(diff: readonly DiffHunk[]): { readonly added: number; readonly removed: number } {
	const lines = diff.flatMap((hunk) => hunk.lines);
	const count = (wanted: DiffLine['kind']) => lines.filter(({ kind }) => kind === wanted).length;
	return { added: count('added'), removed: count('removed') };
}

/** Merges the lines from both texts. */
function editedLines(before: readonly string[], after: readonly string[], maxEdits: number): readonly DiffLine[] {
	const lines: DiffLine[] = [];
	let [x, y] = [0, 0];
	while (x < before.length || y < after.length) {
		const { moves, end } = stretch(before, after, { x, y, maxEdits });
		for (const down of moves) {
			if (down === null) {
				lines.push({ kind: 'same', text: before[x] ?? '' });
				[x, y] = [x + 1, y + 1];
			} else if (down) lines.push({ kind: 'added', text: after[y++] ?? '' });
			else lines.push({ kind: 'removed', text: before[x++] ?? '' });
		}
		[x, y] = [end.x, end.y];
	}
	return removedFirst(lines);
}

interface Point {
	readonly x: number;
	readonly y: number;
}

/** Edit path through both texts: `true` adds a line, `false` removes a line, `null` keeps a line. */
interface Stretch {
	readonly moves: readonly (boolean | null)[];
	readonly end: Point;
}

/** Finds the shortest edit path to the end of both texts, or to the `maxEdits` limit. */
function stretch(
	before: readonly string[],
	after: readonly string[],
	{ x: startX, y: startY, maxEdits }: Point & { readonly maxEdits: number },
): Stretch {
	// `reached[k + edits]` is the furthest x on diagonal k after this many edits. Each step is kept for walking back.
	const steps: Int32Array[] = [];
	for (let edits = 0; ; edits++) {
		const earlier = steps.at(-1);
		const reached = new Int32Array(2 * edits + 1);
		let best: Point = { x: -1, y: -1 };
		for (let k = -edits; k <= edits; k += 2) {
			let x = earlier === undefined ? startX : firstX(earlier, k, edits);
			let y = x - startX - k + startY;
			while (x < before.length && y < after.length && before[x] === after[y]) [x, y] = [x + 1, y + 1];
			reached[k + edits] = x;
			if (x <= before.length && y <= after.length && x + y > best.x + best.y) best = { x, y };
		}
		steps.push(reached);
		if ((best.x === before.length && best.y === after.length) || edits === maxEdits)
			return { moves: walkBack(steps, best, { x: startX, y: startY }), end: best };
	}
}

/**
 * Returns the start x on diagonal k after one more edit: down from the diagonal above, or right from the diagonal
 * below.
 */
function firstX(earlier: Int32Array, k: number, edits: number): number {
	const from = (diagonal: number) => earlier[diagonal + edits - 1] ?? -1;
	if (goesDown(from, k, edits)) return from(k + 1);
	return from(k - 1) + 1;
}

function goesDown(from: (diagonal: number) => number, k: number, edits: number): boolean {
	return k === -edits || (k !== edits && from(k - 1) < from(k + 1));
}

function walkBack(steps: readonly Int32Array[], end: Point, start: Point): readonly (boolean | null)[] {
	const moves: (boolean | null)[] = [];
	let { x, y } = end;
	for (let edits = steps.length - 1; edits > 0; edits--) {
		const earlier = steps[edits - 1] ?? new Int32Array();
		const k = x - start.x - (y - start.y);
		const down = goesDown((diagonal) => earlier[diagonal + edits - 1] ?? -1, k, edits);
		const first = firstX(earlier, k, edits);
		for (; x > first; x--, y--) moves.push(null);
		moves.push(down);
		if (down) y--;
		else x--;
	}
	for (; x > start.x; x--) moves.push(null);
	return moves.reverse();
}

/** Moves removed lines before adjacent added lines. */
function removedFirst(lines: readonly DiffLine[]): readonly DiffLine[] {
	const ordered: DiffLine[] = [];
	let added: DiffLine[] = [];
	for (const line of lines) {
		if (line.kind === 'added') {
			added.push(line);
			continue;
		}
		if (line.kind === 'same') {
			for (const one of added) ordered.push(one);
			added = [];
		}
		ordered.push(line);
	}
	return ordered.concat(added);
}

function hunks(lines: readonly DiffLine[]): readonly DiffHunk[] {
	const found: DiffHunk[] = [];
	let open: { before: number; after: number; lines: DiffLine[] } | null = null;
	let [before, after, quiet] = [1, 1, 0];
	const close = () => {
		if (open === null) return;
		const excess = Math.max(0, quiet - context);
		found.push({ ...open, lines: open.lines.slice(0, open.lines.length - excess) });
		open = null;
	};
	for (const [index, line] of lines.entries()) {
		const isSame = line.kind === 'same';
		if (!isSame && open === null) {
			const lead = Math.min(context, leadingSame(lines, index));
			open = { before: before - lead, after: after - lead, lines: lines.slice(index - lead, index) };
		}
		quiet = isSame ? quiet + 1 : 0;
		(open as { lines: DiffLine[] } | null)?.lines.push(line);
		if (quiet > 2 * context) close();
		if (line.kind !== 'added') before++;
		if (line.kind !== 'removed') after++;
	}
	close();
	return found;
}

/** Counts the equal lines directly before an index. */
function leadingSame(lines: readonly DiffLine[], index: number): number {
	let count = 0;
	while (count < context && lines[index - count - 1]?.kind === 'same') count++;
	return count;
}
