import type { QueryBuilder } from 'objection';
import { rowsPerStatement } from '../query/row-chunks.js';
import type { EnvironmentModel } from '../table/environment-model.js';
import type { TableModel } from './table-model.js';
import type { WritingUnit } from './writing-unit.js';

/**
 * Reads a query's rows in chunks of `rowsPerStatement`, for a caller that deletes each chunk before reading the next.
 * `first` reads the first chunk; by default, with this query and a limit. Callers may pass a cheaper query.
 *
 * Further chunks come from a cursor. For each chunk, a statement with a limit would again scan all rows already deleted
 * by this transaction, and sort the remaining rows.
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
	// This needs no `finally`, because a failure rolls back the transaction, which also closes the cursor.
	await cursor.close();
}
