/** The only row of a list that must hold exactly one. Throws if it does not. */
export function onlyRow<R>(rows: readonly R[]): R {
	const [row] = rows;
	if (row === undefined || rows.length > 1) throw new Error(`one row was asked for, and ${rows.length} came`);
	return row;
}
