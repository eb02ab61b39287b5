import { z } from 'zod';
import { boundedArray } from './bounded.js';
import { Reference } from './common.js';

/** What calls that write many objects at once take and answer; each is one unit, all or nothing. */

/** Many objects to write, at most `max`; `what` names them in the refusal of more. */
export function operations<S extends z.ZodType>(operation: S, max: number, what: string) {
	return z.object({ operations: boundedArray(operation).max(max, tooMany(max, what)) });
}

/** Many objects to delete, each by id or key, at most `max`; `what` names them in the refusal of more. */
export function idents(max: number, what: string) {
	return z.object({ idents: boundedArray(Reference).max(max, tooMany(max, what)) });
}

/** What a call that names too many objects is told. */
export function tooMany(max: number, what: string): string {
	return `must have at most ${max} ${what}; send the rest in further calls`;
}

/** All of it was done; there is nothing to say about each. */
export const BulkReport = z.object({}).meta({ id: 'BulkReport' });
export type BulkReport = z.input<typeof BulkReport>;
