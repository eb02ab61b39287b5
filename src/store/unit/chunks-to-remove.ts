import type { QueryBuilder } from 'objection';
import type { EnvironmentModel } from '../table/environment-model.js';
import { rowsPerStatement } from './row-chunks.js';
import type { TableModel } from './table-model.js';
import type { WritingUnit } from './writing-unit.js';

/**
 * Reads a query's rows in chunks of `rowsPerStatement`, for a caller that deletes each chunk before reading the next.
 * `first` reads the first chunk, if there is a cheaper way than the query with a limit.
 *
 * Further chunks come from a cursor. A statement with a limit would scan all rows deleted so far by this transaction
 * and sort the rest for each chunk.
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
	// Not in a `finally`: a failure rolls the transaction back, which also closes the cursor.
	await cursor.close();
}
