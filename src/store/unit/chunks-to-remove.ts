import type { QueryBuilder } from 'objection';
import type { EnvironmentModel } from '../table/environment-model.js';
import { rowsPerStatement } from './row-chunks.js';
import type { TableModel } from './table-model.js';
import type { WritingUnit } from './writing-unit.js';

/**
 * Reads the rows that a query finds in chunks of `rowsPerStatement`, for a caller that deletes each chunk before it asks
 * for the next. `first` reads the first chunk, where there is a cheaper way than the query with a limit.
 *
 * The others come from a cursor. A statement with a limit would pass over all that this transaction has deleted so far, and
 * would sort what is left, again for each chunk.
 */
export async function* chunksToRemove<M extends EnvironmentModel, R>(
	unit: WritingUnit,
	table: TableModel<M>,
	query: QueryBuilder<M, R[]>,
	first: () => PromiseLike<readonly R[]> = () => query.clone().limit(rowsPerStatement),
): AsyncGenerator<readonly R[]> {
	let rows = await first();
	if (rows.length > 0) yield rows;
	if (rows.length < rowsPerStatement) return;
	const cursor = await unit.openCursor<M, R>(table, query);
	do {
		rows = await cursor.fetch(rowsPerStatement);
		if (rows.length > 0) yield rows;
	} while (rows.length === rowsPerStatement);
	// Not in a `finally`: a failure rolls the transaction back, which closes the cursor too.
	await cursor.close();
}
