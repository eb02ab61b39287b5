/**
 * Walks role derivations: from a user's assigned roles to roles derived from them, and from an instance back to
 * assigned roles.
 */

import type { Steps } from '../../../compiler/steps.js';
import type { FactsIndex } from './facts-index.js';
import { instanceType } from './instance-name.js';

/** A set of roles on instances, which are the nodes in the derivation graph. */
export class RolesOnInstances {
	readonly #instances = new Map<string, Set<string>>();

	/** Adds a role on an instance. Returns false if it is already in the set. */
	add(role: string, instance: string): boolean {
		const instances = this.#instances.get(role) ?? new Set();
		this.#instances.set(role, instances);
		return instances.size !== instances.add(instance).size;
	}

	has(role: string, instance: string): boolean {
		return this.#instances.get(role)?.has(instance) ?? false;
	}
}

/** A role on an instance. */
type Node = readonly [role: string, instance: string];

/** Number of nodes and links visited between two pauses. */
const stride = 1_000;

/**
 * Returns all instances on which the user may hold a role at `time`: instances with an assigned role, and all instances
 * that derivations lead to. Ignores roles that block a derivation, so the result may contain too many instances but
 * never too few.
 */
export function* instancesFor(
	{ schema, instanceRoles, relations }: FactsIndex,
	user: string,
	time: number,
): Steps<ReadonlySet<string>> {
	const seen = new RolesOnInstances();
	const found = new Set<string>();
	const queue: Node[] = [];
	const visit = (role: string, instance: string) => {
		if (!seen.add(role, instance)) return;
		queue.push([role, instance]);
		found.add(instance);
	};
	let visited = 0;
	for (const [instance, role] of instanceRoles.from(user, time)) {
		visited += 1;
		if (visited % stride === 0) yield;
		visit(role, instance);
	}
	// The loop also visits nodes added during iteration.
	for (const [role, instance] of queue) {
		visited += 1;
		if (visited % stride === 0) yield;
		const derived = schema.derivedFrom(instanceType(instance), role);
		if (derived.length === 0) continue;
		for (const [object, relation] of relations.to(instance, time)) {
			visited += 1;
			if (visited % stride === 0) yield;
			for (const target of derived) {
				if (target.relation === relation && target.resource === instanceType(object)) visit(target.role, object);
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
