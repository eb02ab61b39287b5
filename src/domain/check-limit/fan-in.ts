import type { Cycle } from '../../../compiler/cycle.js';
import type { StepIds } from '../../store/model/graph-walk.js';

/** A role on an instance, identified by ids. */
export interface InstanceRole {
	readonly role_id: string;
	readonly instance_id: string;
}

/**
 * Finds a role on an instance that is derived from more than `most` roles on instances, along these tuples and within
 * the cycle (which contains role ids). Returns `null` if there is none. Roles on several paths are counted once. The
 * tuples may form cycles.
 */
export function findFanInAbove(cycle: Cycle, tuples: readonly StepIds[], most: number): InstanceRole | null {
	const graph = buildGraph(cycle, tuples);
	if (graph.sources <= most) return null;
	const seen = new Int32Array(graph.size).fill(-1);
	// A node never has more upstream nodes than its successors, so examine nodes without successors first.
	for (const onlyEnds of [true, false]) {
		for (let node = 0; node < graph.size; node += 1) {
			if (seen[node] !== -1 || (onlyEnds && graph.leads[node] === 1)) continue;
			if (countUpstream(graph, node, seen, most) > most) return graph.roleAt(node);
		}
	}
	return null;
}

/**
 * A graph with numbered nodes. A node's direct predecessors are the items in `before` from index `starts[node]` to
 * index `starts[node + 1]`, exclusive.
 */
interface Graph {
	readonly size: number;
	/** Number of nodes with a successor. */
	readonly sources: number;
	readonly starts: Int32Array;
	readonly before: Int32Array;
	/** 1 for each node with a successor. */
	readonly leads: Uint8Array;
	roleAt(node: number): InstanceRole;
}

function buildGraph({ members, edges }: Cycle, tuples: readonly StepIds[]): Graph {
	const roles = new Map(members.map(({ role }, index) => [role, index]));
	const instances = new Map<string, number>();
	for (const { subject_id, object_id } of tuples) {
		for (const id of [subject_id, object_id]) if (!instances.has(id)) instances.set(id, instances.size);
	}
	const size = roles.size * instances.size;
	const nodeIndex = (role: string, instance: string) =>
		(roles.get(role) ?? 0) * instances.size + (instances.get(instance) ?? 0);
	const steps = edges.flatMap(({ target, relation, source }) =>
		tuples
			.filter(({ relation_id }) => relation_id === relation)
			.map(
				({ subject_id, object_id }) => [nodeIndex(target.role, object_id), nodeIndex(source.role, subject_id)] as const,
			),
	);
	const leads = new Uint8Array(size);
	for (const [, source] of steps) leads[source] = 1;
	const roleAt = (node: number): InstanceRole => ({
		role_id: members[Math.floor(node / instances.size)]?.role ?? '',
		instance_id: [...instances.keys()][node % instances.size] ?? '',
	});
	return { size, sources: leads.reduce((sum, one) => sum + one, 0), ...predecessors(size, steps), leads, roleAt };
}

function predecessors(size: number, steps: readonly (readonly [target: number, source: number])[]) {
	const starts = new Int32Array(size + 1);
	for (const [target] of steps) starts[target + 1] = (starts[target + 1] ?? 0) + 1;
	for (let node = 0; node < size; node += 1) starts[node + 1] = (starts[node + 1] ?? 0) + (starts[node] ?? 0);
	const before = new Int32Array(steps.length);
	const filled = starts.slice();
	for (const [target, source] of steps) {
		const place = filled[target] ?? 0;
		before[place] = source;
		filled[target] = place + 1;
	}
	return { starts, before };
}

/**
 * Counts the nodes upstream of `end`, and stops counting above `most`. Sets `seen` to `end` for each counted node, so
 * no node is counted twice.
 */
function countUpstream({ starts, before }: Graph, end: number, seen: Int32Array, most: number): number {
	seen[end] = end;
	const reached = [end];
	// The iteration includes nodes added during the loop.
	for (const node of reached) {
		for (let place = starts[node] ?? 0; place < (starts[node + 1] ?? 0); place += 1) {
			const source = before[place] ?? 0;
			if (seen[source] === end) continue;
			seen[source] = end;
			reached.push(source);
			if (reached.length - 1 > most) return reached.length - 1;
		}
	}
	return reached.length - 1;
}
