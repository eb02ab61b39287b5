/**
 * Resolves `extends`. A role grants its own permissions and the permissions of every role it extends, directly or
 * indirectly.
 */
import type { Permission, ResourceRole, Role, Schema } from '../model.js';
import { canonical } from '../order.js';

/** For each action, the keys of the roles granting it. Keyed by resource type and action. */
export type Grants = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/**
 * Flattens `extends` for tenant roles, to any depth. Roles in a cycle share their grants, and unknown roles grant
 * nothing.
 */
export function tenantRoleGrants({ roles }: Schema): Grants {
	return flattened([{ roles, listPermissions: (role: Role) => role.permissions }]);
}

/** Flattens `extends` for resource roles, which grant actions on their type. */
export function resourceRoleGrants({ resources }: Schema): Grants {
	return flattened(
		resources.map(({ key, roles }) => ({
			roles,
			listPermissions: (role: ResourceRole) => role.permissions.map((action) => ({ resource: key, action })),
		})),
	);
}

/** A role and the keys of the roles it extends. */
export interface Extending {
	readonly key: string;
	readonly extends: readonly string[];
}

/** Roles that may extend each other, with each role's own permissions. */
interface Family<R extends Extending> {
	readonly roles: readonly R[];
	readonly listPermissions: (role: R) => readonly Permission[];
}

function flattened<R extends Extending>(families: readonly Family<R>[]): Grants {
	const grants = new Map<string, Map<string, Set<string>>>();
	for (const { roles, listPermissions } of families) {
		const byKey = new Map(roles.map((role) => [role.key, role]));
		for (const role of roles) {
			for (const permission of [...reachable(role, byKey)].flatMap(listPermissions)) {
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

/** Returns the role and every role it extends, directly or indirectly. The set of visited roles ends cycles. */
function reachable<R extends Extending>(role: R, byKey: ReadonlyMap<string, R>): ReadonlySet<R> {
	const seen = new Set([role]);
	// A Set also iterates over items added during the iteration, so it serves as the queue.
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
 * Returns the cycles in `extends`. Each cycle is the shortest chain of role keys from its smallest key back to the same
 * key. Every role on a cycle is on a returned chain, or reaches a role on a returned chain.
 */
export function extendsCycles(roles: readonly Extending[]): readonly (readonly string[])[] {
	const parents = new Map(roles.map((role) => [role.key, canonical(role.extends)]));
	const told = new Set<string>();
	const cycles: (readonly string[])[] = [];
	for (const key of canonical(parents.keys())) {
		const chain = told.has(key) ? null : shortestCycle(key, parents);
		if (chain !== null) {
			cycles.push(chain);
			for (const member of chain) {
				told.add(member);
			}
		}
	}
	return cycles;
}

/** Returns the shortest path from a role back to itself, or null. */
function shortestCycle(start: string, parents: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
	const cameFrom = new Map<string, string>();
	const queue = new Set([start]);
	for (const key of queue) {
		for (const parent of parents.get(key) ?? []) {
			if (parent === start) {
				return chainTo(key, cameFrom);
			}
			if (!queue.has(parent)) {
				cameFrom.set(parent, key);
				queue.add(parent);
			}
		}
	}
	return null;
}

function chainTo(end: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
	const before = cameFrom.get(end);
	return before === undefined ? [end] : [...chainTo(before, cameFrom), end];
}
