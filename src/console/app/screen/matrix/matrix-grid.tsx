// biome-ignore-all lint/a11y/useSemanticElements: the grid renders only its visible cells, at absolute positions.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has one tab stop, and headers are not focusable.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Fold, isFolded, type MatrixRow } from '../../../model/matrix/matrix-view.js';
import { columnWords } from '../../../model/matrix/matrix-words.js';
import { columnRole, type MatrixColumn, type PolicyMatrix } from '../../../model/matrix/policy-matrix.js';
import { KeyText } from '../../part/key-text.js';
import { GridRow } from './grid-row.js';
import { isEditable } from './matrix-cell.js';
import { useVirtual } from './use-virtual.js';

/** Position in the grid, as row and column indexes. */
export interface GridPlace {
	readonly row: number;
	readonly column: number;
}

interface MatrixGridProps {
	readonly rows: readonly MatrixRow[];
	readonly columns: readonly MatrixColumn[];
	readonly matrix: PolicyMatrix;
	/** Matrix without the draft's changes; `null` if there is no draft. */
	readonly stored: PolicyMatrix | null;
	readonly fold: Fold;
	readonly active: GridPlace;
	readonly onMove: (place: GridPlace) => void;
	readonly onFold: (resource: string) => void;
	/** Edits a cell. Called only if the cell is editable and the key has write access. */
	readonly onEdit: (row: MatrixRow, column: MatrixColumn) => void;
	/** Moves the focus to the cell details next to the grid. */
	readonly onDetails: () => void;
	readonly mayWrite: boolean;
}

/** Row height in pixels. */
const rowHeight = 30;
const columnWidth = 36;
const headHeight = 176;
const nameWidth = { wide: 240, narrow: 132 };
/** Window width below which the name column is narrow. */
const narrowWidth = 640;
/** Maximum number of cells for which the grid renders all cells. */
const fewCells = 2500;
const pageRows = 12;

/**
 * The matrix as a grid, as described in the ARIA Authoring Practices Guide. It has a single tab stop, and the arrow
 * keys move inside it.
 */
export function MatrixGrid(props: MatrixGridProps) {
	const { rows, columns, matrix, stored, fold, active, onMove, onFold, onEdit, onDetails, mayWrite } = props;
	const scroller = useRef<HTMLDivElement>(null);
	const wantsFocus = useRef(false);
	const [width] = useState(() => (window.innerWidth < narrowWidth ? nameWidth.narrow : nameWidth.wide));
	const isSmall = rows.length * columns.length <= fewCells;
	const rowList = useVirtual({
		scroller,
		horizontal: false,
		count: rows.length,
		size: rowHeight,
		lead: headHeight,
		overscan: isSmall ? rows.length : 6,
		kept: active.row,
	});
	const columnList = useVirtual({
		scroller,
		horizontal: true,
		count: columns.length,
		size: columnWidth,
		lead: width,
		overscan: isSmall ? columns.length : 4,
		kept: active.column,
	});
	useLayoutEffect(() => {
		if (!wantsFocus.current) return;
		wantsFocus.current = false;
		focusPlace(scroller.current, active);
	}, [active.row, active.column]);
	const go = (place: GridPlace) => {
		const row = Math.max(0, Math.min(rows.length - 1, place.row));
		const column = Math.max(0, Math.min(columns.length - 1, place.column));
		if (row === active.row && column === active.column) return;
		wantsFocus.current = true;
		rowList.show(row);
		columnList.show(column);
		onMove({ row, column });
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const next = keyPlace(event, active, { rows: rows.length, columns: columns.length });
		if (next !== null) go(next);
		else if (event.key === 'F2' || (['Enter', ' '].includes(event.key) && !isButton(event.target))) onDetails();
		else return;
		event.preventDefault();
	};
	// A resource header is one cell across all columns, so moving onto it keeps the current column.
	const placeAt = (target: EventTarget | null): GridPlace | null => {
		const place = readPlace(target);
		return place === null || rows[place.row]?.action !== null ? place : { ...place, column: active.column };
	};
	const onClick = (event: MouseEvent) => {
		const place = placeAt(event.target);
		if (place === null) return;
		const isActive = place.row === active.row && place.column === active.column;
		const row = rows[place.row];
		const column = columns[place.column];
		if (row === undefined) return;
		if (!isActive) go(place);
		else focusPlace(scroller.current, place);
		if (row.action === null) onFold(row.resource);
		else if (column !== undefined && mayWrite && isEditable(column, row)) onEdit(row, column);
	};
	return (
		<div
			ref={scroller}
			class="matrix-grid"
			role="grid"
			tabIndex={-1}
			aria-label="Policy matrix"
			aria-rowcount={rows.length + 1}
			aria-colcount={columns.length + 1}
			aria-readonly={!mayWrite}
			style={{ height: `min(${rowList.length + 14}px, 72vh)` }}
			onKeyDown={onKeyDown}
			onClick={onClick}
			onFocusIn={(event) => {
				const place = placeAt(event.target);
				if (place !== null && (place.row !== active.row || place.column !== active.column)) onMove(place);
			}}
		>
			<div
				class="matrix-space"
				role="presentation"
				style={{ height: `${rowList.length}px`, width: `${columnList.length}px` }}
			>
				<div class="matrix-head" role="row" aria-rowindex={1} style={{ height: `${headHeight}px` }}>
					<div class="matrix-corner" role="columnheader" aria-colindex={1} style={{ width: `${width}px` }}>
						Resources and actions
					</div>
					{columnList.items.map(({ index, start }) => {
						const column = columns[index];
						if (column === undefined) return null;
						const isFirst = columns[index - 1]?.kind !== column.kind;
						return (
							<div
								key={column.id}
								class={`matrix-column ${column.kind}${isFirst ? ' first' : ''}${index === active.column ? ' active' : ''}`}
								role="columnheader"
								aria-colindex={index + 2}
								style={{ left: `${start}px`, width: `${columnWidth}px` }}
							>
								{isFirst && <span class="matrix-kind">{columnWords[column.kind]}</span>}
								<span class="matrix-column-name">
									<KeyText text={columnRole(column)} />
								</span>
							</div>
						);
					})}
				</div>
				{rowList.items.map(({ index, start }) => {
					const row = rows[index];
					if (row === undefined) return null;
					return (
						<GridRow
							key={`${row.resource}:${row.action ?? ''}`}
							row={row}
							index={index}
							start={start}
							height={rowHeight}
							nameWidth={width}
							columnWidth={columnWidth}
							items={columnList.items}
							columns={columns}
							matrix={matrix}
							stored={stored}
							mayWrite={mayWrite}
							folded={row.action === null && isFolded(fold, row.resource)}
							activeColumn={index === active.row ? active.column : -1}
						/>
					);
				})}
			</div>
		</div>
	);
}

/** Returns the position to which a key moves; `null` if the key does not navigate. */
function keyPlace(
	{ key, ctrlKey, metaKey, altKey }: KeyboardEvent,
	{ row, column }: GridPlace,
	count: { readonly rows: number; readonly columns: number },
): GridPlace | null {
	if (altKey || metaKey) return null;
	const [lastRow, lastColumn] = [count.rows - 1, count.columns - 1];
	const places: Readonly<Partial<Record<string, GridPlace>>> = {
		ArrowUp: { row: row - 1, column },
		ArrowDown: { row: row + 1, column },
		ArrowLeft: { row, column: column - 1 },
		ArrowRight: { row, column: column + 1 },
		PageUp: { row: row - pageRows, column },
		PageDown: { row: row + pageRows, column },
		Home: { row: ctrlKey ? 0 : row, column: 0 },
		End: { row: ctrlKey ? lastRow : row, column: lastColumn },
	};
	return places[key] ?? null;
}

/** True for a button. The browser itself handles the activation keys of buttons. */
function isButton(target: EventTarget | null): boolean {
	return target instanceof HTMLButtonElement;
}

/** Returns the position of the cell that contains an element; `null` outside cells. */
function readPlace(target: EventTarget | null): GridPlace | null {
	const cell = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null;
	if (cell === null) return null;
	return { row: Number(cell.dataset['row']), column: Number(cell.dataset['column']) };
}

/** Focuses a cell. If the row is a resource header, the column is ignored. */
export function focusPlace(grid: HTMLElement | null, { row, column }: GridPlace): void {
	const places = [...(grid?.querySelectorAll<HTMLElement>(`[data-row="${row}"]`) ?? [])];
	const cell = places.find((one) => one.dataset['column'] === String(column)) ?? places[0];
	cell?.focus({ preventScroll: true });
}
