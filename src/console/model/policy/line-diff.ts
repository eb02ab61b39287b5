import { structuredPatch } from 'diff';

export interface DiffLine {
	readonly kind: 'same' | 'removed' | 'added';
	/** Line text, without its line feed. */
	readonly text: string;
}

/** Differing lines with up to three equal lines around them. */
export interface DiffHunk {
	/**
	 * First line number in the old text, counted from 1. For a hunk without old lines, the number of the following
	 * line.
	 */
	readonly before: number;
	/** First line number in the new text. */
	readonly after: number;
	readonly lines: readonly DiffLine[];
}

/**
 * Maximum number of added and removed lines in a minimal diff. A diff at this limit takes about a second, and the time
 * grows quadratically.
 */
const maxEditLength = 2000;

const kinds: Readonly<Record<string, DiffLine['kind']>> = { ' ': 'same', '-': 'removed', '+': 'added' };

/**
 * Compares two texts line by line. Returns no hunks if the texts are equal. If the texts are very different, the whole
 * new text replaces the whole old text.
 */
export function diffLines(before: string, after: string): readonly DiffHunk[] {
	return minimalDiff(before, after) ?? [...(minimalDiff(before, '') ?? []), ...(minimalDiff('', after) ?? [])];
}

/** Returns the shortest diff, or `undefined` if the texts differ too much. */
function minimalDiff(before: string, after: string): readonly DiffHunk[] | undefined {
	const limit = before === '' || after === '' ? Number.POSITIVE_INFINITY : maxEditLength;
	const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: limit });
	return patch?.hunks.map((hunk) => ({
		before: hunk.oldStart,
		after: hunk.newStart,
		lines: hunk.lines.flatMap((line) => {
			// Any other sign marks a note that the text does not end with a line feed.
			const kind = kinds[line.charAt(0)];
			return kind === undefined ? [] : [{ kind, text: line.slice(1) }];
		}),
	}));
}

export function diffCounts(diff: readonly DiffHunk[]): { readonly added: number; readonly removed: number } {
	const lines = diff.flatMap((hunk) => hunk.lines);
	const count = (wanted: DiffLine['kind']) => lines.filter(({ kind }) => kind === wanted).length;
	return { added: count('added'), removed: count('removed') };
}
