import type { ListResult, PageResult } from '../store/query/row-query.js';

/** Returns the items of a page in the requested form: with the counts, or only the items if nothing was counted. */
export function listAnswer<S>(
	{ total_count, page_count }: ListResult<unknown>,
	items: readonly S[],
): S[] | { data: S[]; total_count: number; page_count: number } {
	return total_count === null ? [...items] : { data: [...items], total_count, page_count };
}

/** Replaces the page items and keeps the counts. */
export function withItems<S>(page: PageResult<unknown>, items: readonly S[]) {
	return { ...page, data: [...items] };
}
