/** Removes rows in chunks. `remove` deletes each chunk before the next chunk is read. Returns the number removed. */
export async function removeInChunks<R>(
	chunks: AsyncIterable<readonly R[]>,
	remove: (rows: readonly R[]) => Promise<unknown>,
): Promise<number> {
	let removed = 0;
	for await (const rows of chunks) {
		await remove(rows);
		removed += rows.length;
	}
	return removed;
}
