import type { Model, QueryBuilder } from 'objection';

/** A slice of a list: `page` from 1, `per_page` rows each. */
export interface Page {
	readonly page: number;
	readonly per_page: number;
}

/** One page of rows and the size of the whole. */
export interface PageOf<R> {
	readonly data: readonly R[];
	readonly total_count: number;
	readonly page_count: number;
}

/** Reads one page of a query and counts the whole. */
export async function pageOf<M extends Model>(query: QueryBuilder<M, M[]>, page: Page): Promise<PageOf<M>> {
	const { results, total } = await query.page(page.page - 1, page.per_page);
	return { data: results, total_count: total, page_count: Math.ceil(total / page.per_page) };
}

/**
 * Narrows to rows of which a column matches the search, ignoring case: as a substring, or, where the search holds a
 * `*`, as a whole in which each `*` stands for anything.
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

/** The pattern of SQL's `like` that a search stands for: see `whereSearched`. */
export function searchPattern(search: string): string {
	const literal = search.replace(/[\\%_]/g, '\\$&');
	return literal.includes('*') ? literal.replaceAll('*', '%') : `%${literal}%`;
}

/** Narrows to rows of which each of these columns has any of its ids; columns without a list do not narrow. */
export function whereAnyOf<M extends Model>(
	query: QueryBuilder<M, M[]>,
	columns: Readonly<Record<string, readonly string[] | undefined>>,
): QueryBuilder<M, M[]> {
	for (const [column, ids] of Object.entries(columns)) {
		if (ids !== undefined) query.whereRaw('?? = any(?::uuid[])', [column, ids]);
	}
	return query;
}

/** A required string value of a member of a JSON column. */
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
