/**
 * Roles to which very many ways of derivations lead. The functions of roles call each other along every way, and where
 * ways part and meet again, each layer of roles multiplies them: so these are walked instead, each role once.
 */
import { type Circle, type DerivationGraph, nameOf, type RoleName } from './circle.js';
import type { Schema } from './model.js';
import { sortedBy } from './order.js';

/** How many calls of functions may be repeated in looking for one role: with more, it is walked. */
export const mostRepeated = 8;

/** A role outside of circles, or all roles of a circle. */
export interface Component {
	readonly members: readonly RoleName[];
	readonly circle: Circle | undefined;
}

/** Roles that are walked together, and all that leads to them. */
export interface Walk {
	/** What it is called after. */
	readonly first: RoleName;
	/** By name, the roles at which a walk can start: those with too many ways. */
	readonly starts: ReadonlySet<string>;
	/** Each stands before all that lead to it. */
	readonly components: readonly Component[];
}

/** The walks of a schema, in order of name, and the one of each role that needs one. */
export interface Walks {
	readonly all: readonly Walk[];
	of(role: RoleName): Walk | undefined;
}

/** Finds the roles with too many ways. Those that lead to each other are one walk. */
export function walksOf(graph: DerivationGraph, { resources }: Schema): Walks {
	const roles = resources.flatMap(({ key, roles }) => roles.map((role) => ({ type: key, role: role.key })));
	const nodes = nodesOf(graph, sortedBy(roles, nameOf));
	const heavy = heavyAmong(nodes);
	const all = sortedBy(
		connected(heavy).map((group) => walkOver(group, nodes)),
		({ first }) => nameOf(first),
	);
	const byRole = new Map(all.flatMap((walk) => [...walk.starts].map((name) => [name, walk])));
	return { all, of: (role) => byRole.get(nameOf(role)) };
}

/** A component and those whose functions its own call, each as often as it is called. */
interface Node extends Component {
	readonly calls: readonly Node[];
}

/** All components, each after all that lead to it. */
function nodesOf(graph: DerivationGraph, roles: readonly RoleName[]): readonly Node[] {
	const done = new Map<string, Node>();
	const open = new Set<string>();
	const stack = [...roles].reverse();
	for (let role = stack.at(-1); role !== undefined; role = stack.at(-1)) {
		const circle = graph.circleOf(role);
		const members = circle?.members ?? [role];
		const sources = calledBy(graph, members, circle);
		const name = nameOf(members[0] ?? role);
		const missing = sources.filter((source) => !done.has(nameOf(source)));
		if (done.has(nameOf(role))) {
			stack.pop();
		} else if (missing.length > 0 && !open.has(name)) {
			open.add(name);
			stack.push(...missing);
		} else {
			const node = { members, circle, calls: sources.flatMap((source) => done.get(nameOf(source)) ?? []) };
			for (const member of members) done.set(nameOf(member), node);
			stack.pop();
		}
	}
	return [...new Set(done.values())];
}

/** The roles outside of a component that its functions ask for. A closed circle asks for each of its sources once. */
function calledBy(
	graph: DerivationGraph,
	members: readonly RoleName[],
	circle: Circle | undefined,
): readonly RoleName[] {
	const leaving = members.flatMap((member) => graph.leaving(member));
	if (circle?.conditional !== false) return leaving.map(({ source }) => source);
	const closed = leaving.filter((edge) => !edge.no_direct_roles_on_object).map(({ source }) => source);
	const interrupted = leaving.filter((edge) => edge.no_direct_roles_on_object).map(({ source }) => source);
	return [...new Map(closed.map((source) => [nameOf(source), source])).values(), ...interrupted];
}

function heavyAmong(nodes: readonly Node[]): ReadonlySet<Node> {
	const heavy = new Set<Node>();
	const calls = new Map<Node, number>();
	for (const node of nodes) {
		const made = node.calls.reduce((sum, called) => sum + (calls.get(called) ?? 0), 1);
		calls.set(node, made);
		// Whatever leads to a role repeats its calls.
		if (node.calls.some((called) => heavy.has(called)) || repeats(node, made)) heavy.add(node);
	}
	return heavy;
}

function repeats(node: Node, made: number): boolean {
	return made > mostRepeated && made - upstreamOf([node]).size > mostRepeated;
}

/** These and all that lead to them. */
function upstreamOf(nodes: readonly Node[]): ReadonlySet<Node> {
	const found = new Set(nodes);
	// A set iterates what is added to it meanwhile.
	for (const { calls } of found) for (const called of calls) found.add(called);
	return found;
}

/** Those that lead to each other, together. */
function connected(heavy: ReadonlySet<Node>): readonly (readonly Node[])[] {
	const beside = new Map<Node, Node[]>([...heavy].map((node) => [node, []]));
	for (const node of heavy) {
		for (const called of node.calls) {
			if (!heavy.has(called)) continue;
			beside.get(node)?.push(called);
			beside.get(called)?.push(node);
		}
	}
	const seen = new Set<Node>();
	return [...heavy].flatMap((node) => {
		if (seen.has(node)) return [];
		const group = new Set([node]);
		for (const member of group) for (const other of beside.get(member) ?? []) group.add(other);
		for (const member of group) seen.add(member);
		return [[...group]];
	});
}

function walkOver(group: readonly Node[], nodes: readonly Node[]): Walk {
	const within = upstreamOf(group);
	const starts = sortedBy(
		group.flatMap(({ members }) => members),
		nameOf,
	);
	const [first = { type: '', role: '' }] = starts;
	return {
		first,
		starts: new Set(starts.map(nameOf)),
		components: nodes.filter((node) => within.has(node)).reverse(),
	};
}
