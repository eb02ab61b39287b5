/** What `extends` means: a role grants what it lists and what every role it reaches lists. */
import type { Permission, Role, Schema } from './model.js';
import { canonical } from './order.js';

/** Resource type to action to the keys of the roles that grant it. */
export type Grants = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** Flattens `extends` of any depth. Roles in a circle share their grants; unknown roles have none. */
export function grantsOf({ roles }: Schema): Grants {
	const byKey = new Map(roles.map((role) => [role.key, role]));
	const grants = new Map<string, Map<string, Set<string>>>();
	for (const role of roles) {
		for (const ancestor of reachable(role, byKey)) {
			for (const permission of ancestor.permissions) {
				holders(grants, permission).add(role.key);
			}
		}
	}
	return grants;
}

function holders(grants: Map<string, Map<string, Set<string>>>, { resource, action }: Permission): Set<string> {
	const actions = grants.get(resource) ?? new Map<string, Set<string>>();
	const roles = actions.get(action) ?? new Set<string>();
	grants.set(resource, actions.set(action, roles));
	return roles;
}

/** The role itself and every role that it extends, directly or not. The set of those seen ends circles. */
function reachable(role: Role, byKey: ReadonlyMap<string, Role>): ReadonlySet<Role> {
	const seen = new Set([role]);
	// A Set iterates what is added to it while it is iterated: it is the queue as well.
	for (const { extends: parents } of seen) {
		for (const parent of parents) {
			const found = byKey.get(parent);
			if (found !== undefined) {
				seen.add(found);
			}
		}
	}
	return seen;
}

/**
 * Circles of `extends`, each as a shortest chain of role keys that starts at its smallest key and leads back to it.
 * Every role on some circle is on a chain, or reaches one that is.
 */
export function cyclesOf(roles: readonly Role[]): readonly (readonly string[])[] {
	const parents = new Map(roles.map((role) => [role.key, canonical(role.extends)]));
	const told = new Set<string>();
	const cycles: (readonly string[])[] = [];
	for (const key of canonical(parents.keys())) {
		const chain = told.has(key) ? null : chainBack(key, parents);
		if (chain !== null) {
			cycles.push(chain);
			for (const member of chain) {
				told.add(member);
			}
		}
	}
	return cycles;
}

/** The shortest way from a role back to itself, or null. */
function chainBack(start: string, parents: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
	const cameFrom = new Map<string, string>();
	const queue = new Set([start]);
	for (const key of queue) {
		for (const parent of parents.get(key) ?? []) {
			if (parent === start) {
				return wayTo(key, cameFrom);
			}
			if (!queue.has(parent)) {
				cameFrom.set(parent, key);
				queue.add(parent);
			}
		}
	}
	return null;
}

function wayTo(end: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
	const before = cameFrom.get(end);
	return before === undefined ? [end] : [...wayTo(before, cameFrom), end];
}
