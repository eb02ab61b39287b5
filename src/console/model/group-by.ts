/**
 * Groups items by key and keeps their order. Written here because the oldest supported browser has no `Map.groupBy`.
 */
export function groupBy<Key, Item>(items: Iterable<Item>, key: (item: Item) => Key): ReadonlyMap<Key, readonly Item[]> {
	const groups = new Map<Key, Item[]>();
	for (const item of items) {
		const group = groups.get(key(item));
		if (group === undefined) groups.set(key(item), [item]);
		else group.push(item);
	}
	return groups;
}
