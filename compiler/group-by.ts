/** Groups rows by a key, keeping their order within each group. */
export function groupBy<T, K>(rows: readonly T[], toKey: (row: T) => K): ReadonlyMap<K, readonly T[]> {
	const groups = new Map<K, T[]>();
	for (const row of rows) {
		const key = toKey(row);
		const group = groups.get(key) ?? [];
		groups.set(key, group);
		group.push(row);
	}
	return groups;
}
