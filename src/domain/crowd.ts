import type { Circle } from '../../compiler/circle.js';
import type { StepIds } from '../store/way.js';

/** A role on an instance, by ids. */
export interface Held {
	readonly role_id: string;
	readonly instance_id: string;
}

/**
 * A role on an instance to which more than `most` others, of the roles of the circle (named by ids) on other instances
 * or on this one, lead along these tuples; `null` when there is none. Ways that meet again count once, and rings end.
 */
export function crowdIn(circle: Circle, tuples: readonly StepIds[], most: number): Held | null {
	const graph = graphOf(circle, tuples);
	if (graph.sources <= most) return null;
	const seen = new Int32Array(graph.size).fill(-1);
	// Whatever leads to a node has no more that leads to itself: so those are looked at first that lead nowhere.
	for (const onlyEnds of [true, false]) {
		for (let node = 0; node < graph.size; node += 1) {
			if (seen[node] !== -1 || (onlyEnds && graph.leads[node] === 1)) continue;
			if (leadingTo(graph, node, seen, most) > most) return graph.held(node);
		}
	}
	return null;
}

/** Nodes are numbers. Those that lead to one directly stand in `before`, from `starts[node]` to `starts[node + 1]`. */
interface Graph {
	readonly size: number;
	/** How many nodes lead to any. */
	readonly sources: number;
	readonly starts: Int32Array;
	readonly before: Int32Array;
	/** 1 for each node that leads to another. */
	readonly leads: Uint8Array;
	held(node: number): Held;
}

function graphOf({ members, edges }: Circle, tuples: readonly StepIds[]): Graph {
	const roles = new Map(members.map(({ role }, index) => [role, index]));
	const instances = new Map<string, number>();
	for (const { subject_id, object_id } of tuples) {
		for (const id of [subject_id, object_id]) if (!instances.has(id)) instances.set(id, instances.size);
	}
	const size = roles.size * instances.size;
	const nodeOf = (role: string, instance: string) =>
		(roles.get(role) ?? 0) * instances.size + (instances.get(instance) ?? 0);
	const steps = edges.flatMap(({ target, relation, source }) =>
		tuples
			.filter(({ relation_id }) => relation_id === relation)
			.map(({ subject_id, object_id }) => [nodeOf(target.role, object_id), nodeOf(source.role, subject_id)] as const),
	);
	const leads = new Uint8Array(size);
	for (const [, source] of steps) leads[source] = 1;
	const held = (node: number): Held => ({
		role_id: members[Math.floor(node / instances.size)]?.role ?? '',
		instance_id: [...instances.keys()][node % instances.size] ?? '',
	});
	return { size, sources: leads.reduce((sum, one) => sum + one, 0), ...bySteps(size, steps), leads, held };
}

function bySteps(size: number, steps: readonly (readonly [target: number, source: number])[]) {
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

/** How many others lead to a node; stops at more than `most`. Notes in `seen` for which node each was seen last. */
function leadingTo({ starts, before }: Graph, end: number, seen: Int32Array, most: number): number {
	seen[end] = end;
	const reached = [end];
	// An array iterates what is added to it meanwhile.
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
