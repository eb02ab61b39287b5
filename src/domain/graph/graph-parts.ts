import { type Graph, type GraphEdge, maxGraphNodes } from '../../wire/facts/graph.js';

/** Requested graph size. */
export interface GraphExtent<Node> {
	/** Maximum number of steps from the start. */
	readonly depth: number;
	/** Maximum number of nodes within `depth`, and maximum number of nodes added by each expanded node. */
	readonly limit: number;
	/** Nodes whose neighbors are added, in this order. Nodes that are not yet in the graph are ignored. */
	readonly expand: readonly Node[];
}

/** Returns the maximum size of a graph after the next expansion. */
export function sizeAfterExpansion(size: number, limit: number): number {
	return Math.min(size + limit, maxGraphNodes);
}

/** A graph without the fields that all graphs have in common. */
export type GraphParts = Pick<Graph, 'nodes' | 'edges' | 'truncated'>;

/** Maximum number of edges in a response. */
export const maxGraphEdges = 2_000;

/** Maximum number of actions listed on an edge. */
const maxShownActions = 20;

/** Returns an edge's action fields. */
export function allowed(actions: readonly string[]): Pick<GraphEdge, 'actions' | 'action_count'> {
	return { actions: actions.slice(0, maxShownActions), action_count: actions.length };
}
