import type { ComponentChildren } from 'preact';
import { mayWrite } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { LoadedFrame } from '../loaded-frame.js';
import { DataTable } from './data-table.js';
import { Pager } from './pager.js';

/** Number of rows per page. */
const perPage = 25;

/** A page of rows from the server. */
export interface RowPage<Row> {
	readonly data: readonly Row[];
	readonly total_count: number;
	readonly page_count: number;
}

interface PagedTableProps<Row> {
	readonly caption: string;
	/** URL parameter with the page number. */
	readonly parameter: string;
	readonly load: (
		query: { readonly page: number; readonly per_page: number },
		signal: AbortSignal,
	) => Promise<RowPage<Row>>;
	/** Dependencies of the rows, in addition to the page number. */
	readonly dependencies: readonly unknown[];
	readonly columns: Parameters<typeof DataTable<Row>>[0]['columns'];
	readonly rowKey: (row: Row) => string;
	readonly empty: ComponentChildren;
	readonly stacked?: boolean;
}

/** Table with server-side pages. The page number is stored in the address. */
export function PagedTable<Row>(props: PagedTableProps<Row>) {
	const { caption, parameter, load, dependencies, columns, rowKey, empty, stacked = false } = props;
	const search = useSearch();
	const page = Number(search.get(parameter)) || 1;
	const loaded = useLoaded((signal) => load({ page, per_page: perPage }, signal), [page, ...dependencies]);
	return (
		<LoadedFrame loaded={loaded}>
			{({ data, page_count, total_count }) => (
				<>
					{data.length === 0 ? (
						empty
					) : (
						<DataTable caption={caption} columns={columns} rows={data} rowKey={rowKey} stacked={stacked} />
					)}
					<Pager
						page={page}
						list={{ page_count, total_count }}
						turnTo={(next) => search.set({ [parameter]: next === 1 ? '' : String(next) })}
					/>
				</>
			)}
		</LoadedFrame>
	);
}

/** Returns the column with write buttons. Returns no column if the key is read-only. */
export function actionColumn<Row>(cell: (row: Row) => ComponentChildren) {
	return mayWrite.value ? [{ title: 'Actions', align: 'end' as const, cell }] : [];
}

/** Wraps a plain list in a page with counts. Returns a page from the server unchanged. */
export function asRowPage<Row>(found: readonly Row[] | RowPage<Row>): RowPage<Row> {
	return 'data' in found ? found : { data: found, total_count: found.length, page_count: 1 };
}
