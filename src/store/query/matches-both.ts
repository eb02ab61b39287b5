/**
 * Returns an SQL condition that is true if both columns have these values. The comparison as a row allows only an
 * index with these columns side by side. The comparison of the first column makes the planner expect few rows: for the
 * row alone, it expects a large part of the table and may scan it. INVARIANT: the values come from `unnest`, so that
 * they are planned like average values. For a literal id that most rows have, the planner may also choose a scan.
 */
export function matchesBoth(first: string, second: string, firstValue: string, secondValue: string): string {
	return matchesAll([first, second], [firstValue, secondValue]);
}

/** Returns an SQL condition like `matchesBoth` for any number of columns. */
export function matchesAll(columns: readonly string[], values: readonly string[]): string {
	const [row, compared] = [`(${columns.join(', ')})`, `(${values.join(', ')})`];
	return `${columns[0]} = ${values[0]} and ${row} >= ${compared} and ${row} <= ${compared}`;
}
