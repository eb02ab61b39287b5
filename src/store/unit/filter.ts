import { type Model, type QueryBuilder, raw } from 'objection';

/** A slice of a list: `page` from 1, `per_page` rows each. */
export interface Page {
	readonly page: number;
	readonly per_page: number;
}

/** One page of rows and the size of the whole. */
export interface PageResult<R> {
	readonly data: readonly R[];
	readonly total_count: number;
	readonly page_count: number;
}

/**
 * Reads one page of a query and counts all its rows, in one statement: so rows and count are of the same moment,
 * whoever writes meanwhile.
 */
export async function readPage<M extends Model>(query: QueryBuilder<M, M[]>, page: Page): Promise<PageResult<M>> {
	const whole = query.clone().clearOrder();
	const before = (page.page - 1) * page.per_page;
	const paged = query.clone().offset(before);
	if (!paged.hasSelects()) paged.select(`${query.tableRefFor(query.modelClass())}.*`);
	const rows = await paged.select(raw('(select count(*) from ? as whole)', whole).as(counted)).limit(page.per_page);
	// Past the end no row carries the count. Then it is at most the offset, whatever was added meanwhile.
	const total_count = rows.length > 0 ? takeCount(rows) : Math.min(before, before && (await whole.resultSize()));
	return { data: rows, total_count, page_count: Math.ceil(total_count / page.per_page) };
}

/** The alias of the count, a name that no table has as a column. */
const counted = 'size_of_whole';

/** Removes the count from rows that were selected with it, and returns it. */
function takeCount(rows: readonly (object & { [counted]?: number })[]): number {
	const [count = 0] = rows.map((row) => row[counted]);
	for (const row of rows) delete row[counted];
	return count;
}

/**
 * Narrows to rows in which one of the columns matches the search, ignoring case: as a substring, or, where the search
 * holds a `*`, as a whole in which each `*` stands for anything.
 */
export function whereSearched<M extends Model>(
	query: QueryBuilder<M, M[]>,
	columns: readonly string[],
	search: string | undefined,
): QueryBuilder<M, M[]> {
	if (search === undefined || search === '') return query;
	const pattern = searchPattern(search);
	return query.where((any) => {
		for (const column of columns) any.orWhereRaw('?? ilike ?', [column, pattern]);
	});
}

/** The pattern for SQL's `like` that a search stands for: see `whereSearched`. */
export function searchPattern(search: string): string {
	const literal = search.replace(/[\\%_]/g, '\\$&');
	return literal.includes('*') ? literal.replaceAll('*', '%') : `%${literal}%`;
}

/** Narrows to rows in which each of these columns has one of its ids. Columns without a list do not narrow. */
export function whereIdsIn<M extends Model>(
	query: QueryBuilder<M, M[]>,
	columns: Readonly<Record<string, readonly string[] | undefined>>,
): QueryBuilder<M, M[]> {
	for (const [column, ids] of Object.entries(columns)) {
		if (ids !== undefined) query.whereRaw('?? = any(?::uuid[])', [column, ids]);
	}
	return query;
}

/** A string value that a member of a JSON column must have. */
export interface AttributeFilter {
	readonly name: string;
	readonly value: string;
}

/** Narrows to rows whose JSON column has all these string values. */
export function whereAttributes<M extends Model>(
	query: QueryBuilder<M, M[]>,
	column: string,
	filters: readonly AttributeFilter[],
): QueryBuilder<M, M[]> {
	for (const { name, value } of filters) query.whereRaw('?? ->> ?::text = ?', [column, name, value]);
	return query;
}
