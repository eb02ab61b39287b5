import type { Graph, GraphEdge } from '../../wire/facts/graph.js';

/** Requested graph size. */
export interface GraphExtent {
	/** Maximum steps from the start. */
	readonly depth: number;
	/** Maximum nodes. */
	readonly limit: number;
}

/** A graph without the fields that all graphs have in common. */
export type GraphParts = Pick<Graph, 'nodes' | 'edges' | 'truncated'>;

/** Maximum number of edges in a response. */
export const maxGraphEdges = 2_000;

/** Maximum actions named by an edge. */
const maxShownActions = 20;

/** Returns an edge's action fields. */
export function allowed(actions: readonly string[]): Pick<GraphEdge, 'actions' | 'action_count'> {
	return { actions: actions.slice(0, maxShownActions), action_count: actions.length };
}
