// biome-ignore-all lint/a11y/useSemanticElements: the grid renders only its visible cells, at absolute positions.
// biome-ignore-all lint/a11y/useFocusableInteractive: only one cell is a tab stop.

import { isEqualJson } from '../../../model/equal-json.js';
import type { MatrixRow } from '../../../model/matrix/matrix-view.js';
import { cellLabel } from '../../../model/matrix/matrix-words.js';
import type {
	MatrixCell as CellContent,
	CellState,
	MatrixAction,
	MatrixColumn,
	PolicyMatrix,
} from '../../../model/matrix/policy-matrix.js';
import type { VirtualPlace } from './use-virtual.js';

interface MatrixCellProps {
	readonly row: number;
	readonly place: MatrixAction;
	readonly column: MatrixColumn;
	readonly item: VirtualPlace;
	readonly matrix: PolicyMatrix;
	readonly stored: PolicyMatrix | null;
	readonly mayWrite: boolean;
	readonly isFirst: boolean;
	readonly isActive: boolean;
}

/** Cell: a button if it is editable, otherwise text. */
export function MatrixCell({ row, place, column, item, matrix, stored, mayWrite, isFirst, isActive }: MatrixCellProps) {
	const cell = matrix.cell(column, place);
	const before = cellBefore(cell, column, place, stored);
	const label = cellLabel(column, place, cell, before);
	const kinds = ['matrix-cell', cell.state, isFirst && 'first', before !== null && 'drafted', isActive && 'active'];
	const focus = { 'data-row': row, 'data-column': item.index, tabIndex: isActive ? 0 : -1 };
	const shown = { class: kinds.filter(Boolean).join(' '), style: { left: `${item.start}px` } };
	const mark = <CellMark state={cell.state} />;
	if (mayWrite && isEditable(column, place)) {
		return (
			<div role="gridcell" aria-colindex={item.index + 2} {...shown}>
				<button type="button" aria-label={label} {...focus}>
					{mark}
				</button>
			</div>
		);
	}
	return (
		<div role="gridcell" aria-colindex={item.index + 2} aria-label={label} {...focus} {...shown}>
			{mark}
		</div>
	);
}

/** Symbol for a cell's state. */
export function CellMark({ state }: { readonly state: CellState }) {
	return <span class={`matrix-mark ${state}`} aria-hidden="true" />;
}

/** Returns the cell without the draft's changes, if it differs; otherwise `null`. */
export function cellBefore(
	cell: CellContent,
	column: MatrixColumn,
	place: MatrixAction,
	stored: PolicyMatrix | null,
): CellContent | null {
	if (stored === null) return null;
	const before = stored.cell(column, place);
	return isEqualJson(before, cell) ? null : before;
}

/**
 * True if a cell is editable. A grant derived from a role on a different resource is edited at that role. A user set
 * that names roles applies only to its resource.
 */
export function isEditable(column: MatrixColumn, row: Pick<MatrixRow, 'resource'>): boolean {
	return column.resource === null || column.resource === row.resource;
}
