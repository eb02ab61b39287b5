/** The compiler's whole input: complete, immutable values. Nothing is fetched while compiling. */

/** A JSON value, as it travels in bundles, patches and policy data. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/** One thing a user may do on a resource of its type. */
export interface Action {
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
}

/** A resource type and the actions that exist on it (spec: Schema and facts object fields). */
export interface Resource {
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
	readonly actions: readonly Action[];
}

/** A grant: the action `action` on resources of type `resource`. */
export interface Permission {
	readonly resource: string;
	readonly action: string;
}

/** A tenant role. It has its own permissions and, through `extends`, those of other roles (by key, any depth). */
export interface Role {
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
	readonly permissions: readonly Permission[];
	readonly extends: readonly string[];
}

/** What can exist and what is allowed: small, compiled into Rego modules and tables. */
export interface Schema {
	readonly resources: readonly Resource[];
	readonly roles: readonly Role[];
}

/** One tenant role held by one user in one tenant, by keys. */
export interface RoleAssignment {
	readonly user: string;
	readonly role: string;
	readonly tenant: string;
}

/** A tenant and the attributes stored with it. */
export interface Tenant {
	readonly key: string;
	readonly attributes: { readonly [name: string]: Json };
}

/** What exists: large, never in Rego, always data. Users are listed by key. Order carries no meaning. */
export interface Facts {
	readonly users: readonly string[];
	readonly tenants: readonly Tenant[];
	readonly role_assignments: readonly RoleAssignment[];
}

/** One environment, whole. */
export interface Model {
	readonly schema: Schema;
	readonly facts: Facts;
}

/** One Rego source file of a policy; `path` is relative to the bundle's root and uses `/`. */
export interface RegoFile {
	readonly path: string;
	readonly text: string;
}

/**
 * One step from an older data document to a newer one. `path` holds the members from the document's root.
 * `upsert` creates missing parents and replaces what is there; `remove` of what is absent changes nothing.
 */
export type Patch =
	| { readonly op: 'upsert'; readonly path: readonly string[]; readonly value: Json }
	| { readonly op: 'remove'; readonly path: readonly string[] };
