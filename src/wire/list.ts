import { z } from 'zod';

/** One page of a list with the size of the whole; `page_count` is the number of pages. */
export function paginated<S extends z.ZodType>(item: S) {
	return z.object({
		data: z.array(item),
		total_count: z.int().min(0),
		page_count: z.int().min(0),
	});
}

/** A list that is a plain array unless the caller asked for `include_total_count`. */
export function arrayOrPaginated<S extends z.ZodType>(item: S) {
	return z.union([z.array(item), paginated(item)]);
}
