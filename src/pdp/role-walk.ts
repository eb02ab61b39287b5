/** Ways along derivations: from what a user is assigned to what may be derived, and from an instance back to there. */

import type { Steps } from './engine/steps.js';
import type { FactsIndex } from './facts.js';
import { typeOf } from './instance-name.js';

/** Roles on instances: a set of nodes of the graph along which roles are derived. */
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
 * Every instance on which the user may hold a role: those with one assigned and all that derivations lead to from
 * there. Roles that stop a derivation are not looked at, so it may be more than the user holds, and is never less.
 */
export function* instancesFor(
	{ schema, instanceRoles, relations }: FactsIndex,
	user: string,
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
	for (const [instance, role] of instanceRoles.from(user)) {
		visited += 1;
		if (visited % stride === 0) yield;
		visit(role, instance);
	}
	// An array iterates what is added to it meanwhile.
	for (const [role, instance] of queue) {
		visited += 1;
		if (visited % stride === 0) yield;
		const derived = schema.derivedFrom(typeOf(instance), role);
		if (derived.length === 0) continue;
		for (const [object, relation] of relations.to(instance)) {
			visited += 1;
			if (visited % stride === 0) yield;
			for (const target of derived) {
				if (target.relation === relation && target.resource === typeOf(object)) visit(target.role, object);
			}
		}
	}
	return found;
}

/** What leads to some roles on an instance. */
export interface Leading {
	/** Whoever is assigned one of these holds one of the roles. */
	readonly nodes: readonly Node[];
	/** The same. */
	readonly seen: RolesOnInstances;
	/** The instances at which a derivation on the way stops for users with a role assigned there. */
	readonly stops: ReadonlySet<string>;
}

/**
 * What leads to any of these roles on an instance, at any distance, for a user who has roles assigned on `assigned`, as
 * far as these stop derivations.
 */
export function* leadingTo(
	{ schema, relations }: FactsIndex,
	roles: readonly string[],
	instance: string,
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
		for (const derivation of schema.derivations(typeOf(object), role)) {
			if (derivation.no_direct_roles_on_object) {
				stops.add(object);
				if (assigned.has(object)) continue;
			}
			for (const [subject, relation] of relations.from(object)) {
				visited += 1;
				if (visited % stride === 0) yield;
				if (relation === derivation.relation && typeOf(subject) === derivation.resource)
					visit(derivation.role, subject);
			}
		}
	}
	return { nodes, seen, stops };
}
