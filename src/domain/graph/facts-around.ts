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
import { type GraphExtent, type GraphParts, maxGraphEdges } from './graph-parts.js';
import { takeNeighbours } from './take-neighbours.js';

/** How many edges of one node are read of each way to be connected: of one node alone, and of each of very many. */
const mostEdgesOfNode = 500;
const fewestEdgesOfNode = 50;
/** How many are read at once of all nodes together, unless each would be left with less than the fewest. */
const edgesAtOnce = 10_000;
/** How many edges of each way to be connected are looked at to count the neighbours that are not shown. */
const mostCounted = 1_000;

/**
 * The users, tenants and instances around one of them, and every role assignment and relationship between those. What it
 * costs does not depend on how many neighbours they have.
 */
export async function factsAround(unit: ReadingUnit, start: FactNode, extent: GraphExtent): Promise<GraphParts> {
	const nodes: FactNode[] = [start];
	const found = new Map([[start.id, 0]]);
	const read: EdgesOfNode[] = [];
	let frontier: readonly FactNode[] = nodes;
	for (let depth = 1; frontier.length > 0; depth += 1) {
		const most = Math.max(fewestEdgesOfNode, Math.min(mostEdgesOfNode, Math.floor(edgesAtOnce / frontier.length)));
		const around = await edgesAround(unit, frontier, most);
		read.push(...around);
		const neighbours = depth > extent.depth ? [] : around.map(otherEnds);
		frontier = takeNeighbours(found, neighbours, { depth, limit: extent.limit });
		nodes.push(...frontier);
	}
	const edges = await edgesBetween(unit, read, found);
	const more = await moreNeighbours(unit, read, found);
	const shown = edges.slice(0, maxGraphEdges);
	const labels = await FactLabels.read(unit, nodes, shown);
	return {
		nodes: nodes.map((node) => labels.node(node, found.get(node.id) ?? 0, more.get(node.id) ?? 0)),
		edges: shown.map((edge) => labels.edge(edge)),
		truncated:
			edges.length > shown.length || nodes.some(({ id }) => more.has(id) && (found.get(id) ?? 0) < extent.depth),
	};
}

/** What each edge of a node leads to, or comes from. */
function otherEnds({ node, lists }: EdgesOfNode): readonly (readonly FactNode[])[] {
	return lists.map((list) => list.map(({ from, to }) => (from.id === node.id ? to : from)));
}

/** The edges with both ends among what was found, in the order of their ids: the oldest first. */
async function edgesBetween(
	unit: ReadingUnit,
	read: readonly EdgesOfNode[],
	found: ReadonlyMap<string, number>,
): Promise<readonly FactEdge[]> {
	// An edge of a node that was not cut was read; and so all are known but those between two that were.
	const cut = read.filter((edges) => edges.cut).map(({ node }) => node);
	const between = cut.length < 2 ? [] : await edgesAmong(unit, cut);
	const edges = new Map<string, FactEdge>();
	for (const edge of [...read.flatMap(({ lists }) => lists.flat()), ...between]) {
		if (found.has(edge.from.id) && found.has(edge.to.id)) edges.set(edge.id, edge);
	}
	return [...edges.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
}

/** How many neighbours that were not found each node has, by id; without those that have none. */
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
