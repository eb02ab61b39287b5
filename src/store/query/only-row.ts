/** Returns a list's only row. Throws if the list does not have exactly one row. */
export function onlyRow<R>(rows: readonly R[]): R {
	const [row] = rows;
	if (row === undefined || rows.length > 1) throw new Error(`expected one row, got ${rows.length}`);
	return row;
}
