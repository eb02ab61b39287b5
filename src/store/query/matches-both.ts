/**
 * Returns an SQL condition that is true if both columns have these values. The comparison as a pair allows only an
 * index with these columns side by side. The comparison of the first column makes the planner expect few rows: for the
 * pair alone, it expects a large part of the table and may scan it. INVARIANT: the values come from `unnest`, so that
 * they are planned like average values. For a literal id that most rows have, the planner may also choose a scan.
 */
export function matchesBoth(first: string, second: string, firstValue: string, secondValue: string): string {
	const [columns, values] = [`(${first}, ${second})`, `(${firstValue}, ${secondValue})`];
	return `${first} = ${firstValue} and ${columns} >= ${values} and ${columns} <= ${values}`;
}
