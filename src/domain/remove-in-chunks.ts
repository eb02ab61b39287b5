import { rowsPerStatement } from '../store/unit/row-chunks.js';

/**
 * Removes rows in chunks: `next` reads up to `rowsPerStatement` of those that are left, and `remove` deletes them. Returns
 * how many were removed.
 */
export async function removeInChunks<R>(
	next: () => Promise<readonly R[]>,
	remove: (rows: readonly R[]) => Promise<unknown>,
): Promise<number> {
	for (let removed = 0; ; ) {
		const rows = await next();
		if (rows.length > 0) await remove(rows);
		removed += rows.length;
		if (rows.length < rowsPerStatement) return removed;
	}
}
