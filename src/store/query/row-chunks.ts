/**
 * Rows per statement. Even for the widest table, a statement stays far below PostgreSQL's limit of 65,535 parameters,
 * and does not block JavaScript or the embedded database for long.
 */
export const rowsPerStatement = 500;

/** Cuts rows into chunks, one for each statement. Yields each chunk with the index of its first row. */
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
