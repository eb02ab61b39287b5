import { Failure } from '../failure.js';
import type { Logger } from '../log.js';
import { isDeadlock, isFull, isUnreachable } from '../store/database/database.js';

/**
 * Returns the failure for a full database (`no_space`, 507), or for an unreachable database or a deadlock
 * (`unavailable`, 503); `null` for any other error. Logs the error if the database is full or unreachable. The embedded
 * database refuses writes before its disk is full (`space.ts`), and itself logs this once.
 */
export function databaseFailure(
	error: unknown,
	{ embedded, log }: { readonly embedded: boolean; readonly log: Logger },
): Failure | null {
	if (isFull(error)) {
		if (!embedded) log.error({ error }, 'a write was refused: there is no space');
		return new Failure('no_space', 'there is no room to write: the disk of the database is full or nearly so');
	}
	if (isDeadlock(error))
		return new Failure('unavailable', 'this request and another one waited for each other: try again');
	if (!isUnreachable(error)) return null;
	log.error({ error }, 'the database cannot be reached');
	return new Failure('unavailable', 'the database cannot be reached: try again in a moment');
}
