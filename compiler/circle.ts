/**
 * The graph of derivations: which role of which type is derived from which. Rego has no recursion, so what this graph
 * holds in circles (a folder in a folder) is treated apart from the rest.
 */
import { groupedBy } from './grouped-by.js';
import type { Derivation, Resource, ResourceRole, Schema } from './model.js';
import { byCodeUnit, sortedBy } from './order.js';

/** A role of a resource type, by keys. */
export interface RoleName {
	readonly type: string;
	readonly role: string;
}

/** One edge of the graph: who holds `source` on a subject of `relation` holds `target` on its object. */
export interface Edge {
	readonly target: RoleName;
	/** A relation of the target's type. */
	readonly relation: string;
	readonly source: RoleName;
	/** Whether a role assigned on the object stops it, by the rule or by its block. */
	readonly no_direct_roles_on_object: boolean;
}

/** Roles that are derived from each other, or one from itself. */
export interface Circle {
	/** In order of type, then role. */
	readonly members: readonly RoleName[];
	/** The edges that do not leave the circle. */
	readonly edges: readonly Edge[];
	/** Whether some edge depends on what is assigned on the object: then the way depends on the user. */
	readonly conditional: boolean;
}

/**
 * How many roles on instances may lead, within one circle, to one role on one instance: what closures hold at most.
 * Writes that would go beyond are refused.
 */
export const mostLeading = 5_000;
/** The same where an assignment can interrupt the circle: what a check walks through at most. */
export const mostWalked = 1_000;

/** How many roles on instances may lead to one within this circle. */
export function mostLeadingIn({ conditional }: Pick<Circle, 'conditional'>): number {
	return conditional ? mostWalked : mostLeading;
}

/** Every derivation whose relation and source role exist, in order of type and role, then of relation and source role. */
export function edgesOf({ resources }: Schema): readonly Edge[] {
	const byKey = new Map(resources.map((resource) => [resource.key, resource]));
	return sortedBy(resources, ({ key }) => key).flatMap((resource) =>
		sortedBy(resource.roles, ({ key }) => key).flatMap((role) =>
			sortedBy(role.derivations, orderOf).flatMap((derivation) => edgeOf(resource, role, derivation, byKey) ?? []),
		),
	);
}

function orderOf({ relation, role, no_direct_roles_on_object }: Derivation): string {
	return JSON.stringify([relation, role, no_direct_roles_on_object]);
}

function edgeOf(
	resource: Resource,
	role: ResourceRole,
	derivation: Derivation,
	resources: ReadonlyMap<string, Resource>,
): Edge | null {
	const relation = resource.relations.find(({ key }) => key === derivation.relation);
	const subject = resources.get(relation?.subject ?? '');
	if (subject === undefined || !subject.roles.some(({ key }) => key === derivation.role)) {
		return null;
	}
	return {
		target: { type: resource.key, role: role.key },
		relation: derivation.relation,
		source: { type: subject.key, role: derivation.role },
		no_direct_roles_on_object: role.no_direct_roles_on_object || derivation.no_direct_roles_on_object,
	};
}

/** The derivations of a schema, found by role. */
export interface DerivationGraph {
	readonly circles: readonly Circle[];
	/** What a role is derived from, in the order of `edgesOf`. */
	into(role: RoleName): readonly Edge[];
	/** Those of them that lead out of the role's circle; all of them where it is in none. */
	leaving(role: RoleName): readonly Edge[];
	/** Whether something outside of the role's circle is derived from it. */
	leadsOut(role: RoleName): boolean;
	circleOf(role: RoleName): Circle | undefined;
}

/** Looks through the derivations of a schema once. */
export function graphOf(schema: Schema): DerivationGraph {
	const edges = edgesOf(schema);
	const circles = circlesAmong(edges);
	const byTarget = groupedBy(edges, ({ target }) => nameOf(target));
	const byMember = new Map(circles.flatMap((circle) => circle.members.map((member) => [nameOf(member), circle])));
	const into = (role: RoleName) => byTarget.get(nameOf(role)) ?? [];
	const circleOf = (role: RoleName) => byMember.get(nameOf(role));
	const leaves = ({ target, source }: Edge) => {
		const circle = circleOf(target);
		return circle === undefined || circleOf(source) !== circle;
	};
	const leadingOut = new Set(edges.filter(leaves).map(({ source }) => nameOf(source)));
	return {
		circles,
		into,
		circleOf,
		leaving: (role) => into(role).filter(leaves),
		leadsOut: (role) => leadingOut.has(nameOf(role)),
	};
}

/** The circles of a schema, in order of their first members. Every role is in one at most. */
export function circlesOf(schema: Schema): readonly Circle[] {
	return circlesAmong(edgesOf(schema));
}

function circlesAmong(edges: readonly Edge[]): readonly Circle[] {
	const components = componentsOf(edges);
	const inside = new Map<number, Edge[]>();
	for (const edge of edges) {
		const component = components.get(nameOf(edge.target));
		if (component !== undefined && component === components.get(nameOf(edge.source))) {
			const found = inside.get(component) ?? [];
			inside.set(component, found);
			found.push(edge);
		}
	}
	return sortedBy([...inside.values()].map(circleMadeOf), ({ members }) => members.map(nameOf).join(' '));
}

function circleMadeOf(edges: readonly Edge[]): Circle {
	const members = new Map(edges.map(({ target }) => [nameOf(target), target]));
	return {
		members: [...members].sort(([left], [right]) => byCodeUnit(left, right)).map(([, member]) => member),
		edges,
		conditional: edges.some((edge) => edge.no_direct_roles_on_object),
	};
}

/** A relation of the instances of a type, by keys. */
export interface CircularRelation {
	readonly type: string;
	readonly relation: string;
	/** Whether it leads around within a circle; the others lead into one from outside. */
	readonly inside: boolean;
}

/** The relations whose relationships closures and walks are made of, by the object's type. One may be of both kinds. */
export function circularRelations(schema: Schema): readonly CircularRelation[] {
	const { circles, leaving } = graphOf(schema);
	const found = circles.flatMap((circle) => [
		...circle.edges.map((edge) => relationOf(edge, true)),
		...circle.members.flatMap((member) => leaving(member).map((edge) => relationOf(edge, false))),
	]);
	return [...new Map(found.map((relation) => [JSON.stringify(Object.values(relation)), relation])).values()];
}

function relationOf({ target, relation }: Edge, inside: boolean): CircularRelation {
	return { type: target.type, relation, inside };
}

/** A role of a type as people write it. */
export function roleText({ type, role }: RoleName): string {
	return `${type}#${role}`;
}

/** One text for one role of one type, whatever characters the keys hold. */
export function nameOf({ type, role }: RoleName): string {
	return JSON.stringify([type, role]);
}

/** A number for each role; two have the same one when each is derived from the other (Tarjan, without recursion). */
function componentsOf(edges: readonly Edge[]): ReadonlyMap<string, number> {
	const sources = new Map<string, string[]>();
	for (const { target, source } of edges) {
		const found = sources.get(nameOf(target)) ?? [];
		sources.set(nameOf(target), found);
		found.push(nameOf(source));
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
