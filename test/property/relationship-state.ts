import type { Held, Rule, Tuple } from './relationship-writes.js';

/**
 * State of the relationship and group books. Maps and sets are mutable. Their items are replaced and never modified.
 */

export interface RoleBook {
	readonly permissions: ReadonlySet<string>;
	readonly parents: ReadonlySet<string>;
	readonly rules: readonly Rule[];
	/** True if the role's derivations were ever set, even if no rule is left. */
	readonly granted: boolean;
	/** True if a role assigned on the object blocks every rule. */
	readonly blocked: boolean;
	/** True if the groups API created this role. */
	readonly made: boolean;
}

/** A relation with subjects of type `subject`. */
interface RelationBook {
	readonly subject: string;
	readonly made: boolean;
}

interface ResourceBook {
	readonly actions: ReadonlySet<string>;
	/** The oldest role comes first, as in `relations`. */
	readonly roles: Map<string, RoleBook>;
	readonly relations: Map<string, RelationBook>;
	readonly made: boolean;
}

export interface InstanceBook {
	readonly tenant: string;
	/**
	 * `null` unless the instance is a group. `made` if the instance was created as a group, and `marked` if an existing
	 * instance became a group.
	 */
	readonly group: 'made' | 'marked' | null;
}

/** The books. Instances are keyed by `<type>:<key>`. Assignments and tuples are keyed by their content. */
export interface State {
	readonly users: Set<string>;
	readonly tenants: Set<string>;
	readonly resources: Map<string, ResourceBook>;
	readonly instances: Map<string, InstanceBook>;
	readonly assignments: Map<string, Held>;
	readonly tuples: Map<string, Tuple>;
}

/** A write that must be refused. */
export class Refused extends Error {}

/** Returns the value with this key. Throws `Refused` if there is no such value. */
export function known<V>(books: ReadonlyMap<string, V>, key: string): V {
	const found = books.get(key);
	if (found === undefined) throw new Refused(`there is no ${key}`);
	return found;
}

/** Throws `Refused` unless `holds`. */
export function demand(holds: boolean, what: string): void {
	if (!holds) throw new Refused(what);
}

/** Returns a type's role. Throws `Refused` if there is no such role. */
export function roleIn(state: State, type: string, role: string): RoleBook {
	return known(known(state.resources, type).roles, role);
}

/** Changes an existing role. */
export function changeRole(state: State, type: string, role: string, change: Partial<RoleBook>): void {
	const { roles } = known(state.resources, type);
	roles.set(role, { ...known(roles, role), ...change });
}

/** Returns an instance's type. */
export function instanceType(instance: string): string {
	return instance.split(':')[0] ?? '';
}

/** Deletes all matching entries. */
export function drop<V>(books: Map<string, V>, gone: (value: V, key: string) => boolean): void {
	for (const [key, value] of books) if (gone(value, key)) books.delete(key);
}
