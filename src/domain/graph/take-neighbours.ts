/** Finds the nodes around a start node. If there are too many, takes a few of each kind. */

/** Yields items from all lists in turn: the first item of each list, then the second item of each list, and so on. */
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
 * Adds neighbors to the found nodes until there are `limit` nodes. Takes turns between the nodes and their connection
 * kinds. Returns the added nodes. `found` maps each node id to the node's distance from the start.
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
