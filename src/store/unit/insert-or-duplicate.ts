import { UniqueViolationError } from 'objection';
import { duplicate } from '../../failure.js';

/** Runs an insertion. Throws `duplicate`, naming what it inserts by kind and key, when its key is taken. */
export async function insertOrDuplicate<R>(kind: string, key: string, insert: () => PromiseLike<R>): Promise<R> {
	try {
		return await insert();
	} catch (error) {
		if (isUniqueViolation(error)) throw duplicate(kind, key);
		throw error;
	}
}

/** PostgreSQL's code for a unique violation: the database's own errors have it, objection's are of their own class. */
const uniqueViolation = '23505';

/** Whether a statement failed because a row with the same key is there. */
export function isUniqueViolation(error: unknown): boolean {
	if (error instanceof UniqueViolationError) return true;
	return (error as { readonly code?: unknown } | null)?.code === uniqueViolation;
}
