/**
 * Rows per statement: far below PostgreSQL's 65,535 parameters for our widest table, and small enough to avoid long
 * blocking steps in JavaScript or in the embedded database.
 */
export const rowsPerStatement = 500;

/** Cuts rows into chunks for a statement, each with its first row's index. */
export function* rowChunks<R>(rows: Iterable<R>): Generator<readonly [start: number, chunk: readonly R[]]> {
	let start = 0;
	let chunk: R[] = [];
	for (const row of rows) {
		chunk.push(row);
		if (chunk.length < rowsPerStatement) continue;
		yield [start, chunk];
		start += chunk.length;
		chunk = [];
	}
	if (chunk.length > 0) yield [start, chunk];
}
