import { Failure } from '../failure.js';
import type { Logger } from '../log.js';
import { isDeadlock, isFull, isUnreachable } from '../store/database/database.js';

/**
 * Returns the failure for a full database (`no_space`, 507), or for an unreachable database or a deadlock
 * (`unavailable`, 503); `null` for any other error. Logs the error if the database is full or unreachable, except for
 * a full embedded database, which logs this itself (`space.ts`).
 */
export function databaseFailure(
	error: unknown,
	{ embedded, log }: { readonly embedded: boolean; readonly log: Logger },
): Failure | null {
	if (isFull(error)) {
		if (!embedded) log.error({ error }, 'a write was rejected because the disk is full');
		return new Failure('no_space', 'not enough disk space: the database disk is full or nearly full');
	}
	if (isDeadlock(error)) return new Failure('unavailable', 'deadlock with a concurrent request: retry');
	if (!isUnreachable(error)) return null;
	log.error({ error }, 'the database cannot be reached');
	return new Failure('unavailable', 'the database is unreachable: try again in a moment');
}
