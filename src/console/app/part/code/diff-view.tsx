import { useSignal } from '@preact/signals';
import type { DiffHunk, DiffLine } from '../../../model/policy/line-diff.js';
import { Button } from '../../../part/button.js';

interface DiffViewProps {
	readonly hunks: readonly DiffHunk[];
	/** Description of the comparison for screen readers. */
	readonly label: string;
}

/** Number of lines to draw first, and to add with each "more". */
const linesAtOnce = 1000;

const signs = { same: ' ', removed: '-', added: '+' } as const;

/**
 * Differences between two texts, with line numbers for both. Signs mark added and removed lines, because color alone is
 * not enough.
 */
export function DiffView({ hunks, label }: DiffViewProps) {
	const shown = useSignal(linesAtOnce);
	const rows = diffRows(hunks);
	if (rows.length === 0) return <p class="quiet">No differences.</p>;
	return (
		<>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
			<section class="scroll code-view diff-view" tabIndex={0} aria-label={label}>
				<table class="code">
					<tbody>
						{rows.slice(0, shown.value).map((row, index) =>
							row.line === null ? (
								<tr key={index} class="hunk">
									<td colSpan={4}>{`@@ -${row.before} +${row.after} @@`}</td>
								</tr>
							) : (
								<tr key={index} class={row.line.kind}>
									<td class="number">{row.line.kind === 'added' ? '' : row.before}</td>
									<td class="number">{row.line.kind === 'removed' ? '' : row.after}</td>
									<td class="sign">{signs[row.line.kind]}</td>
									<td>{row.line.text}</td>
								</tr>
							),
						)}
					</tbody>
				</table>
			</section>
			{rows.length > shown.value && (
				<Button
					onClick={() => {
						shown.value += linesAtOnce;
					}}
				>
					Show more ({rows.length.toLocaleString('en')} lines in total)
				</Button>
			)}
		</>
	);
}

/** Line with its numbers. A hunk header has no line. */
interface DiffRow {
	readonly line: DiffLine | null;
	readonly before: number;
	readonly after: number;
}

function diffRows(hunks: readonly DiffHunk[]): readonly DiffRow[] {
	return hunks.flatMap(({ lines, ...start }) => {
		let { before, after } = start;
		const rows: DiffRow[] = [{ line: null, before, after }];
		for (const line of lines) {
			rows.push({ line, before, after });
			if (line.kind !== 'added') before++;
			if (line.kind !== 'removed') after++;
		}
		return rows;
	});
}
