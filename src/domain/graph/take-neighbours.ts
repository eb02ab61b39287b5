/** Finds the nodes around a start: a few of each kind if there are too many. */

/** Yields items from all lists in turns: the first from each, then the second from each. */
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
 * Adds neighbours to the found nodes, in turns over the nodes and their connection kinds, until `limit` nodes are
 * found. Returns the added nodes. `found` has each node's distance from the start, by id.
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
