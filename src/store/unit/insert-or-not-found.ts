import { ForeignKeyViolationError } from 'objection';
import { notFound } from '../../failure.js';

/** PostgreSQL's code for a violated foreign key, for statements that do not go through a model. */
const foreignKeyViolation = '23503';

/** Runs an insertion. Throws `not_found`, naming the row that it refers to, when that was deleted meanwhile. */
export async function insertOrNotFound<R>(title: string, reference: string, insert: () => PromiseLike<R>): Promise<R> {
	try {
		return await insert();
	} catch (error) {
		if (isForeignKeyViolation(error)) throw notFound(title, reference);
		throw error;
	}
}

function isForeignKeyViolation(error: unknown): boolean {
	if (error instanceof ForeignKeyViolationError) return true;
	return error instanceof Error && 'code' in error && error.code === foreignKeyViolation;
}
