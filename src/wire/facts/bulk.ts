import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { Reference } from '../common.js';
import { named } from '../named.js';

/** Bulk requests and responses. Each call is one unit of work, so it makes either all its changes or none. */

/** Schema for objects to write, at most `max`. `what` names the objects in the error message. */
export function operations<S extends z.ZodType>(operation: S, max: number, what: string) {
	return z.object({
		operations: boundedArray(operation, max, tooManyMessage(max, what)).describe(`At most ${max} ${what}.`),
	});
}

/** Schema for objects to delete, at most `max`, each by id or key. `what` names the objects in the error message. */
export function idents(max: number, what: string) {
	return z.object({
		idents: boundedArray(Reference, max, tooManyMessage(max, what)).describe(`At most ${max} ${what}, by id or key.`),
	});
}

/** Returns the message for a call with too many objects. */
export function tooManyMessage(max: number, what: string): string {
	return `must have at most ${max} ${what}; send the rest in further calls`;
}

export const BulkReport = named('BulkReport', 'Success. There is no result for each object.', {});
