import { rowsAtOnce } from '../store/unit.js';

/**
 * Removes rows in portions: `next` reads up to `rowsAtOnce` of those that are left, `remove` removes them. Returns how
 * many went.
 */
export async function removePortions<R>(
	next: () => Promise<readonly R[]>,
	remove: (rows: readonly R[]) => Promise<unknown>,
): Promise<number> {
	for (let removed = 0; ; ) {
		const rows = await next();
		if (rows.length > 0) await remove(rows);
		removed += rows.length;
		if (rows.length < rowsAtOnce) return removed;
	}
}
