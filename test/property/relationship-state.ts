import type { Held, Rule, Tuple } from './relationship-writes.js';

/** What the books of relationships and groups know. Maps and sets change; what is in them is replaced. */

/** A role of a type. */
export interface RoleBook {
	readonly permissions: ReadonlySet<string>;
	readonly parents: ReadonlySet<string>;
	readonly rules: readonly Rule[];
	/** Whether it was ever said how it is derived; that stays when the last rule goes. */
	readonly granted: boolean;
	/** Whether a role assigned on the object stops every rule. */
	readonly blocked: boolean;
	/** Whether the groups API made it. */
	readonly made: boolean;
}

/** A relation to instances of a type from those of `subject`. */
interface RelationBook {
	readonly subject: string;
	readonly made: boolean;
}

/** A type of resources. */
interface ResourceBook {
	readonly actions: ReadonlySet<string>;
	/** Oldest first, as `relations`. */
	readonly roles: Map<string, RoleBook>;
	readonly relations: Map<string, RelationBook>;
	readonly made: boolean;
}

/** A resource instance. */
export interface InstanceBook {
	readonly tenant: string;
	/** Whether it is a group, and then whether it was made to be one. */
	readonly group: 'made' | 'marked' | null;
}

/** The books; instances are named `<type>:<key>`, assignments and tuples by what they say. */
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

/** What has this key. Throws `Refused` when nothing has. */
export function known<V>(books: ReadonlyMap<string, V>, key: string): V {
	const found = books.get(key);
	if (found === undefined) throw new Refused(`there is no ${key}`);
	return found;
}

/** Throws `Refused` unless this holds. */
export function demand(holds: boolean, what: string): void {
	if (!holds) throw new Refused(what);
}

/** The role of a type. Throws `Refused` when there is none. */
export function roleIn(state: State, type: string, role: string): RoleBook {
	return known(known(state.resources, type).roles, role);
}

/** Rewrites a role that is there. */
export function changeRole(state: State, type: string, role: string, change: Partial<RoleBook>): void {
	const { roles } = known(state.resources, type);
	roles.set(role, { ...known(roles, role), ...change });
}

/** The type of an instance. */
export function instanceType(instance: string): string {
	return instance.split(':')[0] ?? '';
}

/** Deletes what passes the test. */
export function drop<V>(books: Map<string, V>, gone: (value: V, key: string) => boolean): void {
	for (const [key, value] of books) if (gone(value, key)) books.delete(key);
}
