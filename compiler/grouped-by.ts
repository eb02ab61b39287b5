/** Groups rows by a key, keeping their order within each group. */
export function groupedBy<T>(rows: readonly T[], keyOf: (row: T) => string): ReadonlyMap<string, readonly T[]> {
	const groups = new Map<string, T[]>();
	for (const row of rows) {
		const key = keyOf(row);
		const group = groups.get(key) ?? [];
		groups.set(key, group);
		group.push(row);
	}
	return groups;
}
