// biome-ignore-all lint/a11y/useSemanticElements: the grid renders only its visible cells, at absolute positions.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has one tab stop, and headers are not focusable.

import { Component } from 'preact';
import type { MatrixRow } from '../../../model/matrix/matrix-view.js';
import type { MatrixColumn, PolicyMatrix } from '../../../model/matrix/policy-matrix.js';
import { visibleText } from '../../../model/visible-text.js';
import { Button } from '../../../part/button.js';
import { KeyText } from '../../part/key-text.js';
import { MatrixCell } from './matrix-cell.js';
import type { VirtualPlace } from './use-virtual.js';

interface GridRowProps {
	readonly row: MatrixRow;
	readonly index: number;
	/** Position and size, in pixels. */
	readonly start: number;
	readonly height: number;
	readonly nameWidth: number;
	readonly columnWidth: number;
	/** Rendered columns. */
	readonly items: readonly VirtualPlace[];
	readonly columns: readonly MatrixColumn[];
	readonly matrix: PolicyMatrix;
	readonly stored: PolicyMatrix | null;
	readonly mayWrite: boolean;
	readonly folded: boolean;
	/** Column whose cell has focus or receives it next; -1 in other rows. */
	readonly activeColumn: number;
}

/** Grid row. It is rendered again only if its props change, so scrolling other rows does not affect it. */
export class GridRow extends Component<GridRowProps> {
	override shouldComponentUpdate(next: GridRowProps): boolean {
		return (Object.keys(next) as (keyof GridRowProps)[]).some((name) => next[name] !== this.props[name]);
	}

	override render({ row, index, start, height, nameWidth, ...rest }: GridRowProps) {
		const place = { transform: `translateY(${start}px)`, height: `${height}px` };
		const { resource, action } = row;
		if (action === null) return <ResourceRow row={row} index={index} style={place} {...rest} />;
		return (
			<div class="matrix-row" role="row" aria-rowindex={index + 2} style={place}>
				<div class="matrix-name" role="rowheader" aria-colindex={1} style={{ width: `${nameWidth}px` }}>
					<KeyText text={action} />
					{row.name !== action && <span class="quiet"> {visibleText(row.name)}</span>}
				</div>
				{rest.items.map((item) => {
					const column = rest.columns[item.index];
					if (column === undefined) return null;
					return (
						<MatrixCell
							key={column.id}
							row={index}
							place={{ resource, action }}
							column={column}
							item={item}
							matrix={rest.matrix}
							stored={rest.stored}
							mayWrite={rest.mayWrite}
							isFirst={rest.columns[item.index - 1]?.kind !== column.kind}
							isActive={rest.activeColumn === item.index}
						/>
					);
				})}
			</div>
		);
	}
}

interface ResourceRowProps
	extends Pick<GridRowProps, 'row' | 'index' | 'folded' | 'activeColumn' | 'columns' | 'matrix'> {
	readonly style: Readonly<Record<string, string>>;
}

/** Resource header row. It collapses and expands the resource's actions. */
function ResourceRow({ row, index, style, folded, activeColumn, columns, matrix }: ResourceRowProps) {
	const { resource, name } = row;
	const count = matrix.schema.resources.get(resource)?.actions.size ?? 0;
	return (
		<div class="matrix-row resource" role="row" aria-rowindex={index + 2} style={style}>
			<div class="matrix-resource" role="rowheader" aria-colindex={1} aria-colspan={columns.length + 1}>
				<Button data-row={index} data-column={0} tabIndex={activeColumn < 0 ? -1 : 0} aria-expanded={!folded}>
					<span aria-hidden="true">{folded ? '▸' : '▾'}</span> <KeyText text={resource} />{' '}
					<span class="quiet">
						{name !== resource && `${visibleText(name)}, `}
						{count === 1 ? '1 action' : `${count} actions`}
					</span>
				</Button>
			</div>
		</div>
	);
}
