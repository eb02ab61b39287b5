import { UniqueViolationError } from 'objection';
import { duplicate } from '../../failure.js';

/** Runs an insertion. Throws `duplicate` with this kind and key if the key is taken. */
export async function insertOrDuplicate<R>(kind: string, key: string, insert: () => PromiseLike<R>): Promise<R> {
	try {
		return await insert();
	} catch (error) {
		if (isUniqueViolation(error)) throw duplicate(kind, key);
		throw error;
	}
}

/**
 * PostgreSQL's code for a unique violation. The database's own errors have this code, while objection has a separate
 * error class.
 */
const uniqueViolation = '23505';

/** Returns true if a statement failed because the key already exists. */
export function isUniqueViolation(error: unknown): boolean {
	if (error instanceof UniqueViolationError) return true;
	return (error as { readonly code?: unknown } | null)?.code === uniqueViolation;
}
