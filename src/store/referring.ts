import { ForeignKeyViolationError } from 'objection';
import { notFound } from '../failure.js';

/** How PostgreSQL says that what a row refers to is not there, where no model stands between. */
const foreignKeyViolation = '23503';

/** Runs an insertion. Throws `not_found`, naming what the row belongs to, when that was deleted meanwhile. */
export async function referring<R>(title: string, reference: string, insert: () => PromiseLike<R>): Promise<R> {
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
