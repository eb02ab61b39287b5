import type { PageResult } from '../store/unit/row-query.js';

/** Returns a list in the requested form: only the items, or a page with the total count. */
export function listAnswer<R>(
	page: PageResult<R>,
	withTotal: boolean,
): R[] | { data: R[]; total_count: number; page_count: number } {
	return withTotal ? { ...page, data: [...page.data] } : [...page.data];
}

/** Replaces the page items and keeps the counts. */
export function withItems<R, S>(page: PageResult<R>, items: readonly S[]): PageResult<S> {
	return { ...page, data: items };
}
