import { ForeignKeyViolationError } from 'objection';
import { notFound } from '../../failure.js';

/** PostgreSQL's code for a foreign key violation, for statements that bypass the models. */
const foreignKeyViolation = '23503';

/** Runs an insertion. Throws `not_found` with this reference if the referred row was deleted in the meantime. */
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
