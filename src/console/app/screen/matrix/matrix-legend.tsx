import type { CellState } from '../../../model/matrix/policy-matrix.js';
import { CellMark } from './matrix-cell.js';

const meanings: readonly (readonly [CellState, string])[] = [
	['granted', 'granted by the role itself'],
	['inherited', 'inherited: from a role it extends, or a set it narrows'],
	['derived', 'derived: by a role on a related instance'],
	['condition', 'by condition: a rule between sets'],
	['none', 'not granted'],
	['apart', 'a role of another resource'],
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
				Arrow keys move, <kbd>Enter</kbd> changes a cell, <kbd>F2</kbd> leads to its details and <kbd>Escape</kbd> back.
			</p>
		</div>
	);
}
