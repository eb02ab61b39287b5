import type { PageResult } from '../store/unit/row-query.js';

/** A list in the form that its caller asked for: the items alone, or a page with the total count. */
export function listAnswer<R>(
	page: PageResult<R>,
	withTotal: boolean,
): R[] | { data: R[]; total_count: number; page_count: number } {
	return withTotal ? { ...page, data: [...page.data] } : [...page.data];
}

/** A page with other items: those of `page` as the API shows them. */
export function withItems<R, S>(page: PageResult<R>, items: readonly S[]): PageResult<S> {
	return { ...page, data: items };
}
