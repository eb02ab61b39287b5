import type { CellState } from '../../../model/matrix/policy-matrix.js';
import { CellMark } from './matrix-cell.js';

const meanings: readonly (readonly [CellState, string])[] = [
	['granted', 'granted by the role'],
	['inherited', 'inherited from an extended role or a parent set'],
	['derived', 'derived from a role on a related instance'],
	['condition', 'granted by a condition set rule'],
	['none', 'not granted'],
	['apart', 'not applicable: role or user set of a different resource'],
];

/** Explains the symbols and the navigation keys. */
export function MatrixLegend() {
	return (
		<div class="matrix-legend">
			<ul aria-label="Legend">
				{meanings.map(([state, text]) => (
					<li key={state}>
						<CellMark state={state} /> {text}
					</li>
				))}
				<li>
					<span class="matrix-mark none drafted" aria-hidden="true" /> changed by the draft
				</li>
			</ul>
			<p class="quiet">
				Keyboard shortcuts: arrow keys to move, <kbd>Enter</kbd> to change a cell, <kbd>F2</kbd> to open its details,{' '}
				<kbd>Escape</kbd> to close them
			</p>
		</div>
	);
}
