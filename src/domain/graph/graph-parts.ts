import type { Graph, GraphEdge } from '../../wire/facts/graph.js';

/** How much of a graph is wanted. */
export interface GraphExtent {
	/** How many steps from the start at most. */
	readonly depth: number;
	/** How many nodes at most. */
	readonly limit: number;
}

/** A neighbourhood, without what is said of all graphs. */
export type GraphParts = Pick<Graph, 'nodes' | 'edges' | 'truncated'>;

/** The most edges of an answer. */
export const maxGraphEdges = 2_000;

/** How many actions an edge names. */
const maxShownActions = 20;

/** What an edge says of the actions that it allows. */
export function allowed(actions: readonly string[]): Pick<GraphEdge, 'actions' | 'action_count'> {
	return { actions: actions.slice(0, maxShownActions), action_count: actions.length };
}
