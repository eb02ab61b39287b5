/**
 * Walks role derivations: from a user's assigned roles to roles derived from them, and from an instance back to
 * assigned roles.
 */

import type { Steps } from '../../../compiler/steps.js';
import type { FactsIndex } from './facts-index.js';
import { instanceType } from './instance-name.js';

/** A set of roles on instances, which are the nodes in the derivation graph. Instances are names, or their numbers. */
export class RolesOnInstances<Instance = string> {
	readonly #instances = new Map<string, Set<Instance>>();

	/** Adds a role on an instance. Returns false if it is already in the set. */
	add(role: string, instance: Instance): boolean {
		const instances = this.#instances.get(role) ?? new Set();
		this.#instances.set(role, instances);
		return instances.size !== instances.add(instance).size;
	}

	has(role: string, instance: Instance): boolean {
		return this.#instances.get(role)?.has(instance) ?? false;
	}
}

/** A role on an instance. */
type Node = readonly [role: string, instance: string];

/** Number of nodes and links visited between two pauses. */
const stride = 1_000;

/** Roles by the number of the instance. */
export type RolesByInstance = ReadonlyMap<number, readonly string[]>;

/** A user's roles on instances at a time. */
export interface UserRoles {
	/** Roles that the user holds. */
	readonly held: RolesByInstance;
	/** Roles that the user would hold if no assigned role blocked a derivation. */
	readonly reached: RolesByInstance;
}

/** Walks from a user's assigned roles to all roles on instances that derivations lead to. */
export function* rolesOnInstances(facts: FactsIndex, user: string, time: number): Steps<UserRoles> {
	const { names, instanceRoles } = facts;
	const number = names.number(user);
	const assigned: NumberedNode[] = [];
	if (number !== undefined) {
		for (const [instance, role] of instanceRoles.numbersFrom(number, time)) {
			if (assigned.length % stride === stride - 1) yield;
			assigned.push([names.text(role), instance]);
		}
	}
	const stops = new Set(assigned.map(([, instance]) => instance));
	const reached = yield* walkDerivations(facts, { assigned, stops: undefined, time });
	// Two walks only differ if an assigned role blocks a derivation.
	const held = facts.schema.hasStops ? yield* walkDerivations(facts, { assigned, stops, time }) : reached;
	return { held, reached };
}

type NumberedNode = readonly [role: string, instance: number];

interface DerivationWalk {
	readonly assigned: readonly NumberedNode[];
	/** Instances on which an assigned role blocks derivations; `undefined` to ignore blocks. */
	readonly stops: ReadonlySet<number> | undefined;
	readonly time: number;
}

function* walkDerivations(
	{ names, schema, relations }: FactsIndex,
	{ assigned, stops, time }: DerivationWalk,
): Steps<RolesByInstance> {
	const seen = new RolesOnInstances<number>();
	const found = new Map<number, string[]>();
	const queue: NumberedNode[] = [];
	const visit = (role: string, instance: number) => {
		if (!seen.add(role, instance)) return;
		queue.push([role, instance]);
		const roles = found.get(instance);
		if (roles === undefined) found.set(instance, [role]);
		else roles.push(role);
	};
	let visited = 0;
	for (const [role, instance] of assigned) {
		visited += 1;
		if (visited % stride === 0) yield;
		visit(role, instance);
	}
	// The loop also visits nodes added during iteration.
	for (const [role, instance] of queue) {
		visited += 1;
		if (visited % stride === 0) yield;
		const derived = schema.derivedFrom(instanceType(names.text(instance)), role);
		if (derived.length === 0) continue;
		for (const [object, relation] of relations.numbersTo(instance, time)) {
			visited += 1;
			if (visited % stride === 0) yield;
			for (const target of derived) {
				if (target.relation !== names.text(relation) || target.resource !== instanceType(names.text(object))) continue;
				if (target.no_direct_roles_on_object && stops?.has(object)) continue;
				visit(target.role, object);
			}
		}
	}
	return found;
}

/** Nodes that lead to the wanted roles on an instance. */
export interface Leading {
	/** Roles on instances. A user with any of these assignments holds a wanted role. */
	readonly nodes: readonly Node[];
	/** The same nodes, as a set. */
	readonly seen: RolesOnInstances;
	/** Instances on which an assigned role blocks a derivation on the path. */
	readonly stops: ReadonlySet<string>;
}

/** Destination for `leadingTo`. */
export interface Destination {
	/** The wanted roles. Any of these roles suffices. */
	readonly roles: readonly string[];
	/** Instance on which the role is held. */
	readonly instance: string;
	/** Time in milliseconds since 1970. */
	readonly time: number;
}

/**
 * Finds all nodes that lead to the wanted roles on an instance, at any distance. `assigned` are the instances on which
 * the user has assigned roles, which may block derivations.
 */
export function* leadingTo(
	{ schema, relations }: FactsIndex,
	{ roles, instance, time }: Destination,
	assigned: ReadonlySet<string>,
): Steps<Leading> {
	const seen = new RolesOnInstances();
	const stops = new Set<string>();
	const nodes: Node[] = [];
	const visit = (role: string, on: string) => {
		if (seen.add(role, on)) nodes.push([role, on]);
	};
	let visited = 0;
	for (const role of roles) visit(role, instance);
	for (const [role, object] of nodes) {
		visited += 1;
		if (visited % stride === 0) yield;
		for (const derivation of schema.derivations(instanceType(object), role)) {
			if (derivation.no_direct_roles_on_object) {
				stops.add(object);
				if (assigned.has(object)) continue;
			}
			for (const [subject, relation] of relations.from(object, time)) {
				visited += 1;
				if (visited % stride === 0) yield;
				if (relation === derivation.relation && instanceType(subject) === derivation.resource)
					visit(derivation.role, subject);
			}
		}
	}
	return { nodes, seen, stops };
}
