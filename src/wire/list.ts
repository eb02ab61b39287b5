import { z } from 'zod';

/** List page. `total_count` counts all items, and `page_count` counts all pages. */
export function paginated<S extends z.ZodType>(item: S) {
	return z.object({
		data: z.array(item).describe('Items on this page.'),
		total_count: z.int().min(0).describe('Total number of items.'),
		page_count: z.int().min(0).describe('Number of pages.'),
	});
}

/** A list. It is a plain array unless the caller sets `include_total_count`. */
export function arrayOrPaginated<S extends z.ZodType>(item: S) {
	return z.union([z.array(item), paginated(item)]);
}
