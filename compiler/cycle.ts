/**
 * The derivation graph between resource roles. Rego has no recursion, so cycles in this graph (such as nested folders)
 * are treated separately.
 */
import { groupBy } from './group-by.js';
import type { Derivation, Relation, Resource, ResourceRole, Schema } from './model.js';
import { byCodeUnit, canonical, sortedBy } from './order.js';
import { operandKeys, type RoleExpression, type RoleFormula, roleFormula } from './role-expression.js';

/** A role on a resource type, identified by keys. */
export interface RoleName {
	readonly type: string;
	readonly role: string;
}

/** A graph edge: users with `source` on a subject of `relation` get `target` on its object. */
export interface Edge {
	readonly target: RoleName;
	/** A relation on the target's type. */
	readonly relation: string;
	readonly source: RoleName;
	/** If set, a role assigned on the object blocks the edge. The setting is on the derivation or on its block. */
	readonly no_direct_roles_on_object: boolean;
	/** Keys of the relation's grant conditions, in order; absent if there are none. */
	readonly grant_conditions?: readonly string[];
}

/**
 * True if the edge applies in some checks only: an assigned role may block it, or a relationship may be conditional.
 * Closures contain no such edges.
 */
export function dependsOnCheck({ no_direct_roles_on_object, grant_conditions }: Edge): boolean {
	return no_direct_roles_on_object || grant_conditions !== undefined;
}

/** A cycle: several roles derived from each other, or a role derived from itself. */
export interface Cycle {
	/** Ordered by type, then role. */
	readonly members: readonly RoleName[];
	/** The edges within the cycle. */
	readonly edges: readonly Edge[];
	/** True if an edge depends on the check. Then each check walks the cycle, and the cycle has no closures. */
	readonly conditional: boolean;
}

/**
 * Maximum closure size: the number of roles on instances that lead, within a cycle, to a single role on an instance. A
 * write must not exceed it.
 */
export const maxLeading = 5_000;
/**
 * The corresponding maximum for cycles that each check walks: the number of roles on instances a check may visit.
 */
export const maxWalked = 1_000;

/** Returns the maximum for a cycle: `maxWalked` or `maxLeading`. */
export function maxLeadingIn({ conditional }: Pick<Cycle, 'conditional'>): number {
	return conditional ? maxWalked : maxLeading;
}

/**
 * Returns every derivation whose relation and source role exist, ordered by type and role, then by relation and source
 * role.
 */
export function derivationEdges({ resources }: Schema): readonly Edge[] {
	const byKey = new Map(resources.map((resource) => [resource.key, resource]));
	return sortedBy(resources, ({ key }) => key).flatMap((resource) =>
		sortedBy(resource.roles, ({ key }) => key).flatMap((role) =>
			sortedBy(role.derivations, derivationOrder).flatMap(
				(derivation) => derivationEdge(resource, role, derivation, byKey) ?? [],
			),
		),
	);
}

function derivationOrder({ relation, role, no_direct_roles_on_object }: Derivation): string {
	return JSON.stringify([relation, role, no_direct_roles_on_object]);
}

function derivationEdge(
	resource: Resource,
	role: ResourceRole,
	derivation: Derivation,
	resources: ReadonlyMap<string, Resource>,
): Edge | null {
	const relation = resource.relations.find(({ key }) => key === derivation.relation);
	const subject = resources.get(relation?.subject ?? '');
	if (relation === undefined || subject === undefined || !subject.roles.some(({ key }) => key === derivation.role)) {
		return null;
	}
	return {
		target: { type: resource.key, role: role.key },
		relation: derivation.relation,
		source: { type: subject.key, role: derivation.role },
		no_direct_roles_on_object: role.no_direct_roles_on_object || derivation.no_direct_roles_on_object,
		...(declares(relation) && { grant_conditions: canonical(new Set(relation.grant_conditions)) }),
	};
}

/** A link from a role to a role that users hold because of it. */
export type RoleLink = Pick<Edge, 'target' | 'source'>;

/** Returns a link from each operand to its computed role, whether the operand is negated or not. */
function operandLinks(schema: Schema): readonly RoleLink[] {
	return computedRoles(schema).flatMap(({ target, computed }) =>
		operandKeys(computed).map((role) => ({ target, source: { type: target.type, role } })),
	);
}

/** A computed role with its expression. */
export interface ComputedRole {
	readonly target: RoleName;
	readonly computed: RoleExpression;
}

export function computedRoles({ resources }: Schema): readonly ComputedRole[] {
	return resources.flatMap(({ key: type, roles }) =>
		roles.flatMap(({ key: role, computed }) => (computed === undefined ? [] : [{ target: { type, role }, computed }])),
	);
}

/** Returns every link between roles: derivations, and operands of computed roles. */
export function roleLinks(schema: Schema): readonly RoleLink[] {
	return [...derivationEdges(schema), ...operandLinks(schema)];
}

/** A schema's derivations, indexed by role. */
export interface DerivationGraph {
	readonly cycles: readonly Cycle[];
	/** Returns the edges into a role, in `derivationEdges` order. */
	into(role: RoleName): readonly Edge[];
	/** Returns the edges into a role from outside its cycle; all edges if the role is in no cycle. */
	leaving(role: RoleName): readonly Edge[];
	/** True if a role outside the cycle is derived from this role. */
	leadsOut(role: RoleName): boolean;
	cycleContaining(role: RoleName): Cycle | undefined;
	/** True if the role can be assigned to everyone. */
	isPublic(role: RoleName): boolean;
	/** True if this role, or a role leading to it at any distance, can be assigned to everyone. */
	isPublicUpstream(role: RoleName): boolean;
	/** Returns a computed role's formula; `undefined` for any other role. */
	computed(role: RoleName): RoleFormula | undefined;
	/** True if users can hold the role other than by their own unconditional assignment. */
	hasFurtherWays(role: RoleName): boolean;
	/**
	 * True if a computed role needs to know on which instances, among several, a user holds this role. This includes the
	 * computed role itself, if it has derived roles, and the roles leading to it. Roles that can only be assigned are
	 * included only as operands.
	 */
	isAskedAmong(role: RoleName): boolean;
	/** Returns the role's condition keys, in order. */
	conditionsOf(role: RoleName): readonly string[];
	/**
	 * True if this role, or a role leading to it at any distance, may be assigned conditionally. Then users without
	 * unconditional assignments may hold the role. Conditional relationships pass on roles, but never begin a path.
	 */
	isConditionalUpstream(role: RoleName): boolean;
}

/** Indexes a schema's derivations. */
export function derivationGraph(schema: Schema): DerivationGraph {
	const edges = derivationEdges(schema);
	const cycles = cyclesAmong(edges);
	const byTarget = groupBy(edges, ({ target }) => roleName(target));
	const byMember = new Map(cycles.flatMap((cycle) => cycle.members.map((member) => [roleName(member), cycle])));
	const into = (role: RoleName) => byTarget.get(roleName(role)) ?? [];
	const cycleOf = (role: RoleName) => byMember.get(roleName(role));
	const leaves = ({ target, source }: Edge) => {
		const cycle = cycleOf(target);
		return cycle === undefined || cycleOf(source) !== cycle;
	};
	const leadingOut = new Set(edges.filter(leaves).map(({ source }) => roleName(source)));
	const open = new Set(publicRoles(schema).map(roleName));
	const openDownstream = open.size === 0 ? open : withDerivedRoles(open, roleLinks(schema));
	const formulas = new Map(
		computedRoles(schema).map(({ target, computed }) => [roleName(target), roleFormula(computed)]),
	);
	const conditions = new Map(declaringRoles(schema).map(([role, sets]) => [roleName(role), sets]));
	const conditionalDownstream =
		conditions.size === 0 ? conditions : withDerivedRoles(conditions.keys(), roleLinks(schema));
	const hasFurtherWays = (role: RoleName) =>
		into(role).length > 0 || [open, formulas, conditions].some((found) => found.has(roleName(role)));
	const askedAmong = upstreamOfComputed(
		[...formulas.keys()].filter((name) => leadingOut.has(name)),
		[...operandLinks(schema), ...edges.filter(({ source }) => hasFurtherWays(source))],
	);
	return {
		cycles,
		into,
		conditionsOf: (role) => conditions.get(roleName(role)) ?? [],
		cycleContaining: cycleOf,
		leaving: (role) => into(role).filter(leaves),
		leadsOut: (role) => leadingOut.has(roleName(role)),
		isPublic: (role) => open.has(roleName(role)),
		isPublicUpstream: (role) => openDownstream.has(roleName(role)),
		computed: (role) => formulas.get(roleName(role)),
		hasFurtherWays,
		isAskedAmong: (role) => askedAmong.has(roleName(role)),
		isConditionalUpstream: (role) => conditionalDownstream.has(roleName(role)),
	};
}

/** Returns these role names, and the names of all roles leading to them along the links. */
function upstreamOfComputed(names: readonly string[], links: readonly RoleLink[]): ReadonlySet<string> {
	if (names.length === 0) return new Set();
	return withDerivedRoles(
		names,
		links.map(({ target, source }) => ({ target: source, source: target })),
	);
}

/** Entries into a cycle with closures. */
export interface WaysIntoCycle {
	/** Roles outside the cycle whose instances are in the closures. */
	readonly outside: readonly RoleName[];
	/** Members derived from outside the cycle by edges that depend on the check. Closures ignore these entries. */
	readonly interrupted: readonly RoleName[];
}

/** Finds the entries into a cycle with closures. */
export function waysIntoCycle(graph: DerivationGraph, members: readonly RoleName[]): WaysIntoCycle {
	const leaving = members.flatMap((member) => graph.leaving(member));
	const outside = new Map(
		leaving.filter((edge) => !dependsOnCheck(edge)).map(({ source }) => [roleName(source), source]),
	);
	const interrupted = members.filter((member) => graph.leaving(member).some(dependsOnCheck));
	return { outside: [...outside.values()], interrupted };
}

/** Returns the roles that can be assigned to everyone. */
export function publicRoles({ resources }: Schema): readonly RoleName[] {
	return resources.flatMap(({ key: type, roles }) =>
		roles.filter((role) => role.public).map(({ key: role }) => ({ type, role })),
	);
}

/** A role and its condition keys, in order. */
export type DeclaringRole = readonly [role: RoleName, sets: readonly string[]];

/** Returns the roles that may be assigned conditionally. */
export function declaringRoles({ resources }: Schema): readonly DeclaringRole[] {
	return resources.flatMap(({ key: type, roles }) =>
		roles.flatMap(({ key: role, grant_conditions = [] }): DeclaringRole[] =>
			grant_conditions.length === 0 ? [] : [[{ type, role }, canonical(new Set(grant_conditions))]],
		),
	);
}

/** A relation and its condition keys, in order. */
export type DeclaringRelation = readonly [type: string, relation: string, sets: readonly string[]];

/** Returns the relations whose relationships may be conditional. */
export function declaringRelations({ resources }: Schema): readonly DeclaringRelation[] {
	return resources.flatMap(({ key: type, relations }) =>
		relations
			.filter(declares)
			.map(({ key, grant_conditions }): DeclaringRelation => [type, key, canonical(new Set(grant_conditions))]),
	);
}

function declares({ grant_conditions = [] }: Relation): boolean {
	return grant_conditions.length > 0;
}

/**
 * Returns the names of the roles that users may hold conditionally: declaring roles, roles derived by declaring
 * relations, and all roles derived or computed from them.
 */
export function rolesUnderConditions(schema: Schema): ReadonlySet<string> {
	const first = [
		...declaringRoles(schema).map(([role]) => role),
		...derivationEdges(schema).flatMap(({ target, grant_conditions }) =>
			grant_conditions === undefined ? [] : [target],
		),
	];
	return first.length === 0 ? new Set() : withDerivedRoles(first.map(roleName), roleLinks(schema));
}

/** Returns a schema's cycles, ordered by their first members. Every role is in at most one cycle. */
export function derivationCycles(schema: Schema): readonly Cycle[] {
	return cyclesAmong(derivationEdges(schema));
}

function cyclesAmong(edges: readonly Edge[]): readonly Cycle[] {
	const components = stronglyConnectedComponents(edges);
	const inside = new Map<number, Edge[]>();
	for (const edge of edges) {
		const component = components.get(roleName(edge.target));
		if (component !== undefined && component === components.get(roleName(edge.source))) {
			const found = inside.get(component) ?? [];
			inside.set(component, found);
			found.push(edge);
		}
	}
	return sortedBy([...inside.values()].map(cycleFromEdges), ({ members }) => members.map(roleName).join(' '));
}

function cycleFromEdges(edges: readonly Edge[]): Cycle {
	const members = new Map(edges.map(({ target }) => [roleName(target), target]));
	return {
		members: [...members].sort(([left], [right]) => byCodeUnit(left, right)).map(([, member]) => member),
		edges,
		conditional: edges.some(dependsOnCheck),
	};
}

/** A relation on a type's instances, identified by keys. */
export interface CircularRelation {
	readonly type: string;
	readonly relation: string;
	/** True for a relation within a cycle, false for a relation into a cycle from outside. */
	readonly inside: boolean;
}

/**
 * Returns the relations followed by closures and walks, with the object's type. A relation may appear twice: inside a
 * cycle and into a cycle.
 */
export function circularRelations(schema: Schema): readonly CircularRelation[] {
	const { cycles, leaving } = derivationGraph(schema);
	const found = cycles.flatMap((cycle) => [
		...cycle.edges.map((edge) => asCircularRelation(edge, true)),
		...cycle.members.flatMap((member) => leaving(member).map((edge) => asCircularRelation(edge, false))),
	]);
	return [...new Map(found.map((relation) => [JSON.stringify(Object.values(relation)), relation])).values()];
}

function asCircularRelation({ target, relation }: Edge, inside: boolean): CircularRelation {
	return { type: target.type, relation, inside };
}

/**
 * Returns the names of these roles and of all roles that follow from them along the links, at any distance. Names are
 * as returned by `roleName`.
 */
export function withDerivedRoles(names: Iterable<string>, links: readonly RoleLink[]): ReadonlySet<string> {
	const bySource = groupBy(links, ({ source }) => roleName(source));
	const found = new Set(names);
	// A Set also iterates over items added during the iteration, so it serves as the queue.
	for (const name of found) {
		for (const { target } of bySource.get(name) ?? []) found.add(roleName(target));
	}
	return found;
}

/** Returns a role's readable name, with its type. */
export function roleText({ type, role }: RoleName): string {
	return `${type}#${role}`;
}

/** Returns a unique string for a role and its type, regardless of the characters in the keys. */
export function roleName({ type, role }: RoleName): string {
	return JSON.stringify([type, role]);
}

/**
 * Returns a component number for each role, keyed by role name: two roles have the same number if they lead to each
 * other (Tarjan's algorithm, without recursion).
 */
export function stronglyConnectedComponents(links: readonly RoleLink[]): ReadonlyMap<string, number> {
	const sources = new Map<string, string[]>();
	for (const { target, source } of links) {
		const found = sources.get(roleName(target)) ?? [];
		sources.set(roleName(target), found);
		found.push(roleName(source));
	}
	const index = new Map<string, number>();
	const low = new Map<string, number>();
	const components = new Map<string, number>();
	const open: string[] = [];
	for (const root of sources.keys()) {
		if (index.has(root)) {
			continue;
		}
		const calls = [{ node: root, next: 0 }];
		for (let call = calls.at(-1); call !== undefined; call = calls.at(-1)) {
			const { node } = call;
			if (call.next === 0) {
				index.set(node, index.size);
				low.set(node, index.get(node) ?? 0);
				open.push(node);
			}
			const source = sources.get(node)?.[call.next];
			if (source === undefined) {
				finish(node);
				calls.pop();
				const parent = calls.at(-1)?.node;
				if (parent !== undefined) {
					low.set(parent, Math.min(low.get(parent) ?? 0, low.get(node) ?? 0));
				}
				continue;
			}
			call.next += 1;
			if (!index.has(source)) {
				calls.push({ node: source, next: 0 });
			} else if (!components.has(source)) {
				low.set(node, Math.min(low.get(node) ?? 0, index.get(source) ?? 0));
			}
		}
	}
	return components;

	function finish(node: string): void {
		if (low.get(node) !== index.get(node)) {
			return;
		}
		const component = index.get(node) ?? 0;
		for (let member = open.pop(); member !== undefined; member = open.pop()) {
			components.set(member, component);
			if (member === node) {
				return;
			}
		}
	}
}
