import type { Graph, GraphEdge } from '../../wire/facts/graph.js';

/** Requested size of a graph. */
export interface GraphExtent {
	/** Maximum steps from the start. */
	readonly depth: number;
	/** Maximum nodes. */
	readonly limit: number;
}

/** A neighbourhood, without the fields common to all graphs. */
export type GraphParts = Pick<Graph, 'nodes' | 'edges' | 'truncated'>;

/** Maximum edges of an answer. */
export const maxGraphEdges = 2_000;

/** Maximum actions named by an edge. */
const maxShownActions = 20;

/** Returns the action fields of an edge. */
export function allowed(actions: readonly string[]): Pick<GraphEdge, 'actions' | 'action_count'> {
	return { actions: actions.slice(0, maxShownActions), action_count: actions.length };
}
