/** Groups items by a key, keeping their order within each group. */
export function groupBy<T, K>(items: readonly T[], toKey: (item: T) => K): ReadonlyMap<K, readonly T[]> {
	const groups = new Map<K, T[]>();
	for (const item of items) {
		const key = toKey(item);
		const group = groups.get(key);
		if (group) group.push(item);
		else groups.set(key, [item]);
	}
	return groups;
}
