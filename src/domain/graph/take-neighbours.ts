/** Finding the nodes around a start, a few of each kind where there are too many for all. */

/** The items of all lists in turns: the first of each, then the second of each. */
export function* inTurns<T>(lists: readonly Iterable<T>[]): Generator<T> {
	let left = lists.map((list) => list[Symbol.iterator]());
	while (left.length > 0) {
		const more: Iterator<T>[] = [];
		for (const items of left) {
			const { done, value } = items.next();
			if (done) continue;
			yield value;
			more.push(items);
		}
		left = more;
	}
}

/**
 * Adds neighbours to what was found, in turns over the nodes and over the ways in which a node is connected, until
 * `limit` nodes are found. Returns those that are added. `found` has the distance of each node from the start, by id.
 */
export function takeNeighbours<N extends { readonly id: string }>(
	found: Map<string, number>,
	neighbours: readonly (readonly (readonly N[])[])[],
	{ depth, limit }: { readonly depth: number; readonly limit: number },
): readonly N[] {
	const added: N[] = [];
	for (const node of inTurns(neighbours.map((lists) => inTurns(lists)))) {
		if (found.size >= limit) break;
		if (found.has(node.id)) continue;
		found.set(node.id, depth);
		added.push(node);
	}
	return added;
}
