import { UniqueViolationError } from 'objection';
import { duplicate } from '../../failure.js';

/** Runs an insertion. Throws `duplicate`, naming what it inserts by kind and key, when its key is taken. */
export async function insertOrDuplicate<R>(kind: string, key: string, insert: () => PromiseLike<R>): Promise<R> {
	try {
		return await insert();
	} catch (error) {
		if (error instanceof UniqueViolationError) throw duplicate(kind, key);
		throw error;
	}
}
