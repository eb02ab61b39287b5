import {
	countNeighbours,
	type EdgesOfNode,
	edgesAmong,
	edgesAround,
	type FactEdge,
	type FactNode,
} from '../../store/model/fact-edges.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { FactLabels } from './fact-labels.js';
import { type GraphExtent, type GraphParts, maxGraphEdges, sizeAfterExpansion } from './graph-parts.js';
import { takeNeighbours } from './take-neighbours.js';

/**
 * Maximum number of edges read per node and connection kind. The first number is for a small set of nodes, and the
 * second for a very large set.
 */
const mostEdgesOfNode = 500;
const fewestEdgesOfNode = 50;
/**
 * Maximum number of edges read for all nodes together, unless each node's share would be less than `fewestEdgesOfNode`.
 */
const edgesAtOnce = 10_000;
/** Maximum number of edges examined per connection kind to count hidden neighbors. */
const mostCounted = 1_000;

/**
 * Returns the users, tenants and instances around a start node, and every role assignment and relationship between
 * them. The cost does not depend on how connected these nodes are. Does not continue through a tenant to its other
 * users: a tenant connects all its users, who need not be related to the start node.
 */
export async function factsAround(
	unit: ReadingUnit,
	start: FactNode,
	extent: GraphExtent<FactNode>,
): Promise<GraphParts> {
	const nodes: FactNode[] = [start];
	const found = new Map([[start.id, 0]]);
	const read: EdgesOfNode[] = [];
	let frontier: readonly FactNode[] = nodes;
	for (let depth = 1; frontier.length > 0; depth += 1) {
		const around = await readEdges(unit, frontier);
		read.push(...around);
		const open = around.filter(({ node }) => leads(node, start));
		const neighbours = depth > extent.depth ? [] : open.map(otherEnds);
		frontier = takeNeighbours(found, neighbours, { depth, limit: extent.limit });
		nodes.push(...frontier);
	}
	for (const { id } of extent.expand) {
		const edges = read.find(({ node }) => node.id === id);
		const depth = (found.get(id) ?? 0) + 1;
		const limit = sizeAfterExpansion(found.size, extent.limit);
		const added = edges === undefined ? [] : takeNeighbours(found, [otherEnds(edges)], { depth, limit });
		nodes.push(...added);
		if (added.length > 0) read.push(...(await readEdges(unit, added)));
	}
	nodes.sort((one, other) => (found.get(one.id) ?? 0) - (found.get(other.id) ?? 0));
	const edges = await edgesBetween(unit, read, found);
	const more = await moreNeighbours(unit, read, found);
	const shown = edges.slice(0, maxGraphEdges);
	const labels = await FactLabels.read(unit, nodes, shown);
	return {
		nodes: nodes.map((node) => labels.node(node, found.get(node.id) ?? 0, more.get(node.id) ?? 0)),
		edges: shown.map((edge) => labels.edge(edge)),
		truncated:
			edges.length > shown.length ||
			nodes.some((node) => leads(node, start) && more.has(node.id) && (found.get(node.id) ?? 0) < extent.depth),
	};
}

/** True if the neighbors of a node are part of the graph around the start. */
function leads(node: FactNode, start: FactNode): boolean {
	return node.kind !== 'tenant' || node.id === start.id;
}

/** Reads the edges at these nodes. The more nodes, the fewer edges per node. */
function readEdges(unit: ReadingUnit, nodes: readonly FactNode[]): Promise<readonly EdgesOfNode[]> {
	const most = Math.max(fewestEdgesOfNode, Math.min(mostEdgesOfNode, Math.floor(edgesAtOnce / nodes.length)));
	return edgesAround(unit, nodes, most);
}

/** Returns the opposite end of each edge at a node. */
function otherEnds({ node, lists }: EdgesOfNode): readonly (readonly FactNode[])[] {
	return lists.map((list) => list.map(({ from, to }) => (from.id === node.id ? to : from)));
}

/** Returns the edges between the nodes found so far, ordered by id (oldest first). */
async function edgesBetween(
	unit: ReadingUnit,
	read: readonly EdgesOfNode[],
	found: ReadonlyMap<string, number>,
): Promise<readonly FactEdge[]> {
	// All edges of a node are already read unless its list was truncated, so only edges between two truncated nodes can
	// be missing.
	const cut = read.filter((edges) => edges.cut).map(({ node }) => node);
	const between = cut.length < 2 ? [] : await edgesAmong(unit, cut);
	const edges = new Map<string, FactEdge>();
	for (const edge of [...read.flatMap(({ lists }) => lists.flat()), ...between]) {
		if (found.has(edge.from.id) && found.has(edge.to.id)) edges.set(edge.id, edge);
	}
	return [...edges.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
}

/** Returns the number of hidden neighbors, keyed by node id. Omits nodes without hidden neighbors. */
async function moreNeighbours(
	unit: ReadingUnit,
	read: readonly EdgesOfNode[],
	found: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
	const more = new Map<string, number>();
	for (const edges of read.filter(({ cut }) => !cut)) {
		const others = new Set(
			otherEnds(edges)
				.flat()
				.map(({ id }) => id)
				.filter((id) => !found.has(id)),
		);
		if (others.size > 0) more.set(edges.node.id, others.size);
	}
	const cut = read.filter((edges) => edges.cut).map(({ node }) => node);
	for (const [id, count] of await countNeighbours(unit, cut, [...found.keys()], mostCounted)) more.set(id, count);
	return more;
}
