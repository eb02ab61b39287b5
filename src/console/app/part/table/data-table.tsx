import type { ComponentChildren } from 'preact';
import { FoldedRows } from './folded-rows.js';

interface Column<Row> {
	readonly title: string;
	readonly cell: (row: Row) => ComponentChildren;
	/** For numbers, and for buttons at the end of a row. */
	readonly align?: 'end';
}

interface DataTableProps<Row> {
	/** Description of the rows for screen readers. */
	readonly caption: string;
	readonly columns: readonly Column<Row>[];
	readonly rows: readonly Row[];
	readonly rowKey: (row: Row) => string;
	/** Shows the caption to all users, not only to screen readers. */
	readonly captioned?: boolean;
	/** In a narrow window, shows each row as lines with the column titles. For rows with long cells. */
	readonly stacked?: boolean;
}

/** Number of rows that a folded table shows first. Rows are higher in narrow windows. */
function rowsAtOnce(): number {
	return matchMedia('(max-width: 40rem)').matches ? 8 : 25;
}

/** Table for a list of any length: shows the first rows, and more on request. */
export function FoldedTable<Row>(props: DataTableProps<Row>) {
	return (
		<FoldedRows rows={props.rows} atOnce={rowsAtOnce()}>
			{(shown) => <DataTable {...props} rows={shown} />}
		</FoldedRows>
	);
}

/** Table that scrolls sideways if it is too wide. It can also be scrolled by keyboard. */
export function DataTable<Row>(props: DataTableProps<Row>) {
	const { caption, columns, rows, rowKey, captioned = false, stacked = false } = props;
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
		<section class="scroll" tabIndex={0} aria-label={caption}>
			<table class={stacked ? 'stacked' : ''}>
				<caption class={captioned ? '' : 'unseen'}>{caption}</caption>
				<thead>
					<tr>
						{columns.map(({ title, align }) => (
							<th key={title} scope="col" class={align ?? ''}>
								{title}
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{rows.map((row) => (
						<tr key={rowKey(row)}>
							{columns.map(({ title, cell, align }) => (
								<td key={title} class={align ?? ''} data-title={title}>
									{cell(row)}
								</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
}
