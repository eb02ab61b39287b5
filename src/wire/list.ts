import { z } from 'zod';

/** One page of a list with the size of the whole; `page_count` is the number of pages. */
export function paginated<S extends z.ZodType>(item: S) {
	return z.object({
		data: z.array(item).describe('The items of this page.'),
		total_count: z.int().min(0).describe('How many items there are in all.'),
		page_count: z.int().min(0).describe('How many pages there are.'),
	});
}

/** A list that is a plain array unless the caller asked for `include_total_count`. */
export function arrayOrPaginated<S extends z.ZodType>(item: S) {
	return z.union([z.array(item), paginated(item)]);
}
