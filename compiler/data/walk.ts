/**
 * Roles with very many derivation paths. Role functions call each other along every path. If paths diverge and
 * converge, each layer of roles multiplies the number of calls. For roles with too many calls the policy uses a walk
 * instead, which visits each role once.
 */
import { type Cycle, type DerivationGraph, dependsOnCheck, type RoleName, roleName, waysIntoCycle } from '../cycle.js';
import type { Schema } from '../model.js';
import { sortedBy } from '../order.js';
import { operandsIn } from '../role-expression.js';

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
export function findWalks(graph: DerivationGraph, schema: Schema): Walks {
	const nodes = componentNodes(graph, sortedRoles(schema));
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
	readonly isComputed: boolean;
	/** True if a computed role leads to the component through a derivation. */
	readonly followsComputed: boolean;
}

/**
 * Returns the roles that follow from computed roles and repeat too many calls in their lookups. A walk collects a
 * role's sources without checking whether the user holds them, so no walk can replace these calls. Returns only the
 * first role on each path.
 */
export function findRepeating(graph: DerivationGraph, schema: Schema): readonly RoleName[] {
	const nodes = componentNodes(graph, sortedRoles(schema));
	const calls = new Map<Node, number>();
	const found = new Set<Node>();
	for (const node of nodes) {
		const made = countCalls(node, calls);
		if (node.followsComputed && repeats(node, made)) found.add(node);
	}
	return [...found].filter((node) => !node.calls.some((called) => found.has(called))).flatMap(({ members }) => members);
}

function sortedRoles({ resources }: Schema): readonly RoleName[] {
	const roles = resources.flatMap(({ key, roles }) => roles.map((role) => ({ type: key, role: role.key })));
	return sortedBy(roles, roleName);
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
			const calls = sources.flatMap((source) => done.get(roleName(source)) ?? []);
			const isComputed = graph.computed(role) !== undefined;
			const followsComputed = calls.some((called) => called.followsComputed || (called.isComputed && !isComputed));
			const node = { members, cycle, calls, isComputed, followsComputed };
			for (const member of members) done.set(roleName(member), node);
			stack.pop();
		}
	}
	return [...new Set(done.values())];
}

/**
 * Returns the roles called by a component's functions outside the component. A cycle with closures calls each source
 * once. A computed role calls its operands.
 */
function calledBy(graph: DerivationGraph, members: readonly RoleName[], cycle: Cycle | undefined): readonly RoleName[] {
	const computed = members.flatMap((member) => operandsOf(graph, member));
	if (computed.length > 0) return computed;
	const leaving = members.flatMap((member) => graph.leaving(member));
	if (cycle?.conditional !== false) return leaving.map(({ source }) => source);
	const interrupted = leaving.filter(dependsOnCheck).map(({ source }) => source);
	return [...waysIntoCycle(graph, members).outside, ...interrupted];
}

function operandsOf(graph: DerivationGraph, { type, role }: RoleName): readonly RoleName[] {
	const formula = graph.computed({ type, role });
	return formula === undefined ? [] : operandsIn(formula).map((operand) => ({ type, role: operand.role }));
}

/** Counts a component's lookup calls, after its sources' calls. */
function countCalls(node: Node, calls: Map<Node, number>): number {
	const made = node.calls.reduce((sum, called) => sum + (calls.get(called) ?? 0), 1);
	calls.set(node, made);
	return made;
}

/** Returns the components to walk. A walk does not evaluate computed roles, so it contains none. */
function heavyAmong(nodes: readonly Node[]): ReadonlySet<Node> {
	const heavy = new Set<Node>();
	const calls = new Map<Node, number>();
	for (const node of nodes) {
		const made = countCalls(node, calls);
		if (node.isComputed || node.followsComputed) continue;
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
