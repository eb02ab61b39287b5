import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { Reference } from '../common.js';

/** Requests and answers of calls that write many objects at once. Each call is one unit: all or nothing. */

/** Many objects to write, at most `max`; `what` names them in the message when there are more. */
export function operations<S extends z.ZodType>(operation: S, max: number, what: string) {
	return z.object({
		operations: boundedArray(operation, max, tooManyMessage(max, what)).describe(`At most ${max} ${what}.`),
	});
}

/** Many objects to delete, each by id or key, at most `max`; `what` names them in the message when there are more. */
export function idents(max: number, what: string) {
	return z.object({
		idents: boundedArray(Reference, max, tooManyMessage(max, what)).describe(`At most ${max} ${what}, by id or key.`),
	});
}

/** The message for a call that names too many objects. */
export function tooManyMessage(max: number, what: string): string {
	return `must have at most ${max} ${what}; send the rest in further calls`;
}

/** Everything was done; there is nothing to report for single objects. */
export const BulkReport = z
	.object({})
	.meta({ id: 'BulkReport', description: 'Everything was done; there is nothing to report for single objects.' });
export type BulkReport = z.input<typeof BulkReport>;
