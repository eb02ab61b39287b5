/** What kind of thing a JSON value is, in a way that tells the types apart. */
import type { Json } from './model.js';

/** Whether it is an array: `Array.isArray` does not narrow readonly arrays. */
export function isArray(value: Json): value is readonly Json[] {
	return Array.isArray(value);
}
