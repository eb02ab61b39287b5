import type { PageOf } from '../store/filter.js';

/** A list as its caller asked for it: the items alone, or with the size of the whole. */
export function listed<R>(
	page: PageOf<R>,
	withTotal: boolean,
): R[] | { data: R[]; total_count: number; page_count: number } {
	return withTotal ? { ...page, data: [...page.data] } : [...page.data];
}

/** A page whose items are shown as `items`. */
export function shown<R, S>(page: PageOf<R>, items: readonly S[]): PageOf<S> {
	return { ...page, data: items };
}
