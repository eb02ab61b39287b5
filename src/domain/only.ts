/** The one row of a list that was asked for one and cannot have come back without it. */
export function only<R>(rows: readonly R[]): R {
	const [row] = rows;
	if (row === undefined || rows.length > 1) throw new Error(`one row was asked for, and ${rows.length} came`);
	return row;
}
