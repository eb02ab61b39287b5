/**
 * Roles with very many derivation paths. Role functions call each other along every path. If paths part and meet again,
 * each layer of roles multiplies the number of calls. For roles with too many calls the policy uses a walk instead,
 * which visits each role once.
 */
import { type Cycle, type DerivationGraph, type RoleName, roleName } from '../cycle.js';
import type { Schema } from '../model.js';
import { sortedBy } from '../order.js';

/** Maximum number of repeated calls for a role lookup. Roles with more repeated calls are walked. */
const maxRepeated = 8;

/** A role outside cycles, or all roles in a cycle. */
export interface Component {
	readonly members: readonly RoleName[];
	readonly cycle: Cycle | undefined;
}

/** Roles with a common walk, and all their sources. */
export interface Walk {
	/** The role after which the walk is named. */
	readonly first: RoleName;
	/** Names of the roles where a walk can start: the roles with too many paths. */
	readonly starts: ReadonlySet<string>;
	/** Each component comes before all its sources. */
	readonly components: readonly Component[];
}

/** A schema's walks, ordered by name, and a lookup by role. */
export interface Walks {
	readonly all: readonly Walk[];
	walkTo(role: RoleName): Walk | undefined;
}

/** Finds the roles with too many paths. Connected roles share a walk. */
export function findWalks(graph: DerivationGraph, { resources }: Schema): Walks {
	const roles = resources.flatMap(({ key, roles }) => roles.map((role) => ({ type: key, role: role.key })));
	const nodes = componentNodes(graph, sortedBy(roles, roleName));
	const heavy = heavyAmong(nodes);
	const all = sortedBy(
		connected(heavy).map((group) => walkOver(group, nodes)),
		({ first }) => roleName(first),
	);
	const byRole = new Map(all.flatMap((walk) => [...walk.starts].map((name) => [name, walk])));
	return { all, walkTo: (role) => byRole.get(roleName(role)) };
}

/** A component. `calls` lists the components its functions call, with an entry for each call. */
interface Node extends Component {
	readonly calls: readonly Node[];
}

/** Returns all components, each after all its sources. */
function componentNodes(graph: DerivationGraph, roles: readonly RoleName[]): readonly Node[] {
	const done = new Map<string, Node>();
	const open = new Set<string>();
	const stack = [...roles].reverse();
	for (let role = stack.at(-1); role !== undefined; role = stack.at(-1)) {
		const cycle = graph.cycleContaining(role);
		const members = cycle?.members ?? [role];
		const sources = calledBy(graph, members, cycle);
		const name = roleName(members[0] ?? role);
		const missing = sources.filter((source) => !done.has(roleName(source)));
		if (done.has(roleName(role))) {
			stack.pop();
		} else if (missing.length > 0 && !open.has(name)) {
			open.add(name);
			stack.push(...missing);
		} else {
			const node = { members, cycle, calls: sources.flatMap((source) => done.get(roleName(source)) ?? []) };
			for (const member of members) done.set(roleName(member), node);
			stack.pop();
		}
	}
	return [...new Set(done.values())];
}

/**
 * Returns the roles called by a component's functions outside the component. A cycle with closures calls each source
 * once.
 */
function calledBy(graph: DerivationGraph, members: readonly RoleName[], cycle: Cycle | undefined): readonly RoleName[] {
	const leaving = members.flatMap((member) => graph.leaving(member));
	if (cycle?.conditional !== false) return leaving.map(({ source }) => source);
	const closed = leaving.filter((edge) => !edge.no_direct_roles_on_object).map(({ source }) => source);
	const interrupted = leaving.filter((edge) => edge.no_direct_roles_on_object).map(({ source }) => source);
	return [...new Map(closed.map((source) => [roleName(source), source])).values(), ...interrupted];
}

function heavyAmong(nodes: readonly Node[]): ReadonlySet<Node> {
	const heavy = new Set<Node>();
	const calls = new Map<Node, number>();
	for (const node of nodes) {
		const made = node.calls.reduce((sum, called) => sum + (calls.get(called) ?? 0), 1);
		calls.set(node, made);
		// Every role derived from this node repeats this node's calls.
		if (node.calls.some((called) => heavy.has(called)) || repeats(node, made)) heavy.add(node);
	}
	return heavy;
}

function repeats(node: Node, made: number): boolean {
	return made > maxRepeated && made - upstreamNodes([node]).size > maxRepeated;
}

/** Returns these nodes and all their sources. */
function upstreamNodes(nodes: readonly Node[]): ReadonlySet<Node> {
	const found = new Set(nodes);
	// The loop also visits added nodes.
	for (const { calls } of found) for (const called of calls) found.add(called);
	return found;
}

/** Groups connected nodes. */
function connected(heavy: ReadonlySet<Node>): readonly (readonly Node[])[] {
	const neighbours = new Map<Node, Node[]>([...heavy].map((node) => [node, []]));
	for (const node of heavy) {
		for (const called of node.calls) {
			if (!heavy.has(called)) continue;
			neighbours.get(node)?.push(called);
			neighbours.get(called)?.push(node);
		}
	}
	const seen = new Set<Node>();
	return [...heavy].flatMap((node) => {
		if (seen.has(node)) return [];
		const group = new Set([node]);
		for (const member of group) for (const other of neighbours.get(member) ?? []) group.add(other);
		for (const member of group) seen.add(member);
		return [[...group]];
	});
}

function walkOver(group: readonly Node[], nodes: readonly Node[]): Walk {
	const within = upstreamNodes(group);
	const starts = sortedBy(
		group.flatMap(({ members }) => members),
		roleName,
	);
	const [first = { type: '', role: '' }] = starts;
	return {
		first,
		starts: new Set(starts.map(roleName)),
		components: nodes.filter((node) => within.has(node)).reverse(),
	};
}
