import type { Loose } from './client.js';

/** A list as it is answered unless counts are asked for. */
export type Listed = readonly Loose[];

/** A page of a list with the counts of the whole. */
export interface Paginated {
	readonly data: Listed;
	readonly total_count: number;
	readonly page_count: number;
}

/** The keys of a list, in its order. */
export function listedKeys(items: Listed): readonly unknown[] {
	return items.map((item) => item['key']);
}

/** A page with its items as their keys. */
export function shape({ data, ...counts }: Paginated) {
	return { ...counts, data: listedKeys(data) };
}
