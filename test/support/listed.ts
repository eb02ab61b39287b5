import type { Loose } from './client.js';

/** List without counts. */
export type Listed = readonly Loose[];

/** List page with total counts. */
export interface Paginated {
	readonly data: Listed;
	readonly total_count: number;
	readonly page_count: number;
}

/** Returns the keys in list order. */
export function listedKeys(items: Listed): readonly unknown[] {
	return items.map((item) => item['key']);
}

/** Replaces a page's items with their keys. */
export function shape({ data, ...counts }: Paginated) {
	return { ...counts, data: listedKeys(data) };
}
