/**
 * Walks along derivations: from what is assigned to a user to what may be derived, and from an instance back to that.
 */

import type { Steps } from '../../../compiler/steps.js';
import type { FactsIndex } from './facts-index.js';
import { instanceType } from './instance-name.js';

/** A set of roles on instances, which are the nodes of the derivation graph. */
export class RolesOnInstances {
	readonly #instances = new Map<string, Set<string>>();

	/** Adds a role on an instance; false when it is there already. */
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

/** How many nodes and links are visited between two pauses. */
const stride = 1_000;

/**
 * All instances on which the user may hold a role at `time`: those with an assigned role and all that derivations lead to from
 * there. Roles that stop a derivation are ignored, so the result may have more than the user holds, and never less.
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
	// The loop also visits nodes that are added while it runs.
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

/** The nodes that lead to some roles on an instance. */
export interface Leading {
	/** Whoever is assigned one of these nodes holds one of the roles. */
	readonly nodes: readonly Node[];
	/** The same nodes, as a set. */
	readonly seen: RolesOnInstances;
	/** The instances on which an assigned role stops a derivation on the way. */
	readonly stops: ReadonlySet<string>;
}

/** What `leadingTo` looks for. */
export interface Destination {
	/** Any of these roles. */
	readonly roles: readonly string[];
	/** The instance on which it is held. */
	readonly instance: string;
	/** When, in milliseconds since 1970. */
	readonly time: number;
}

/**
 * Finds what leads to any of these roles on an instance, at any distance, for a user who has roles assigned on
 * `assigned`, where these may stop derivations.
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
