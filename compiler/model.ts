/** The compiler's complete input, as immutable values. The compiler fetches nothing. */
import type { RoleExpression } from './role-expression.js';

/** A JSON value, as in bundles, patches and policy data. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/** An operation on resources of a type. */
export interface Action {
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
}

/** A resource type: its actions, and its instances' roles and relations. */
export interface Resource {
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
	readonly actions: readonly Action[];
	readonly roles: readonly ResourceRole[];
	/** Relations whose objects have this type. */
	readonly relations: readonly Relation[];
}

/** A kind of relationship from instances of one type (the subjects) to instances of a second type (the objects). */
export interface Relation {
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
	/** The subjects' resource type. */
	readonly subject: string;
	/** Keys of the relation's grant conditions; absent if there are none. */
	readonly grant_conditions?: readonly string[];
}

/**
 * A role on instances of a resource type. It grants actions for that type, including the actions of the roles in
 * `extends` (keys of roles on the same type, to any depth). A user gets the role by assignment on an instance, or by
 * derivation from roles on related instances.
 */
export interface ResourceRole {
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
	/** Action keys. */
	readonly permissions: readonly string[];
	readonly extends: readonly string[];
	readonly derivations: readonly Derivation[];
	/** If set, a user with any assigned role on an instance does not get this role there by derivation. */
	readonly no_direct_roles_on_object: boolean;
	/** If set, the role can be assigned to everyone. */
	readonly public?: boolean;
	/** If present, users hold this role on an instance by their other roles there, and only by them. */
	readonly computed?: RoleExpression;
	/** Keys of the role's grant conditions; absent if there are none. */
	readonly grant_conditions?: readonly string[];
}

/** A way to derive a role: users with `role` on the subject of `relation` get the derived role on the object. */
export interface Derivation {
	/** Key of a relation on the derived role's type. */
	readonly relation: string;
	/** Key of a role on the relation's subjects. */
	readonly role: string;
	/** If set, this derivation has no effect for a user with any assigned role on the object. */
	readonly no_direct_roles_on_object: boolean;
}

/** Grants the action `action` on resources of type `resource`. */
export interface Permission {
	readonly resource: string;
	readonly action: string;
}

/**
 * A tenant role. It grants its own permissions and the permissions of the roles in `extends` (role keys, to any depth).
 */
export interface Role {
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
	readonly permissions: readonly Permission[];
	readonly extends: readonly string[];
}

/** User, tenant or instance attributes, by name. */
export interface Attributes {
	readonly [name: string]: Json;
}

/**
 * A condition set's selection: `conditions` in the API grammar or, for an automatic set, all users with a tenant role
 * or all resources of a type.
 */
type Selection = { readonly conditions: Json } | { readonly role: string } | { readonly resource: string };

/**
 * A set that selects users, or resources with the same type. Its members are selected in each check. A set grants
 * nothing without a rule.
 */
export interface ConditionSet {
	/** Unique per set type. */
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
	readonly type: 'userset' | 'resourceset';
	/** Resource type of a resource set, or of a user set that names roles on the resource; null for other user sets. */
	readonly resource: string | null;
	/** The parent set's key; it must have the same type and resource type. Every member of a set is also in its parent. */
	readonly parent: string | null;
	readonly selects: Selection;
}

/** Type of a value stored with a conditional assignment or relationship. */
export type ParameterType = 'string' | 'number' | 'bool' | 'array';

/**
 * A condition for role assignments and relationships. A conditional assignment or relationship only counts while its
 * condition holds, with its stored values as `grant.<parameter>`.
 */
export interface GrantCondition {
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
	readonly parameters: Readonly<Record<string, ParameterType>>;
	/** In the API grammar. */
	readonly conditions: Json;
}

/** Allows the users in a user set to perform the action on the resources in a resource set. All fields are keys. */
export interface SetRule {
	readonly user_set: string;
	readonly resource_set: string;
	/** The resource set's resource type. */
	readonly resource: string;
	readonly action: string;
}

/**
 * The schema: resource types, roles, permissions and condition sets. It is small, and is compiled into Rego modules and
 * tables.
 */
export interface Schema {
	readonly resources: readonly Resource[];
	readonly roles: readonly Role[];
	readonly condition_sets: readonly ConditionSet[];
	readonly set_rules: readonly SetRule[];
	/** Absent if there are none. */
	readonly grant_conditions?: readonly GrantCondition[];
}

/** A fact with an optional expiry. */
export interface Expiring {
	/** Expiry, in milliseconds since 1970; absent if the fact does not expire. */
	readonly expires_at?: number;
}

/** A tenant role assignment, identified by keys. */
export interface RoleAssignment extends Expiring {
	readonly user: string;
	readonly role: string;
	readonly tenant: string;
}

/** A tenant and its stored attributes. */
export interface Tenant {
	readonly key: string;
	readonly attributes: Attributes;
}

/**
 * User attributes for conditions: the stored attributes, overridden by `email`, `first_name` and `last_name` if known.
 */
export interface UserAttributes {
	readonly user: string;
	readonly attributes: Attributes;
}

/** An instance's stored attributes. */
export interface InstanceAttributes {
	readonly type: string;
	readonly key: string;
	readonly attributes: Attributes;
}

/** A resource instance in a tenant. */
export interface Instance {
	readonly type: string;
	readonly key: string;
	readonly tenant: string;
}

/**
 * A resource role assignment on an instance of the role's type, identified by keys. If the user is `everyone`, all
 * users hold the role there, stored or not.
 */
export interface InstanceAssignment extends Expiring {
	readonly user: string;
	readonly role: string;
	readonly type: string;
	readonly instance: string;
	/** Absent for an unconditional assignment. */
	readonly condition?: AssignedCondition;
}

/** An assignment's or a relationship's condition: the key of a `GrantCondition`, and a value for each parameter. */
export interface AssignedCondition {
	readonly set: string;
	readonly values: Attributes;
}

/** A relationship tuple. It relates the subject to the object `instance`, which has the type `type`. */
export interface Relationship extends Expiring {
	readonly type: string;
	readonly instance: string;
	readonly relation: string;
	readonly subject_type: string;
	readonly subject: string;
	/** Absent for an unconditional relationship. */
	readonly condition?: AssignedCondition;
}

/**
 * The facts. They can be large, so they are always data and never Rego. `users` contains keys. Row order has no
 * meaning.
 */
export interface Facts {
	readonly users: readonly string[];
	readonly tenants: readonly Tenant[];
	/** Tenant role assignments. */
	readonly role_assignments: readonly RoleAssignment[];
	readonly instances: readonly Instance[];
	readonly instance_assignments: readonly InstanceAssignment[];
	readonly relationships: readonly Relationship[];
	/** Users without attributes may be omitted. */
	readonly user_attributes: readonly UserAttributes[];
	/** Instances without attributes may be omitted. */
	readonly instance_attributes: readonly InstanceAttributes[];
}

/** Maps requests to a URL to a resource and an action (`/allowed_url`). Policies never read mapping rules. */
export interface MappingRule {
	readonly url: string;
	/** A regular expression for type `regex`. For `null`, each part in braces is a wildcard. */
	readonly url_type: 'regex' | null;
	/** In lowercase. */
	readonly http_method: string;
	readonly resource: string;
	/** Action key; `null` if the action has the same key as the method. */
	readonly action: string | null;
	/** The matching rule with the highest priority wins; `null` is 0. */
	readonly priority: number | null;
}

/** A proxy config's mapping rules, in order. Bundles contain no other part of a proxy config. */
export interface MappingRules {
	/** Proxy config key. */
	readonly config: string;
	readonly rules: readonly MappingRule[];
}

/** A complete environment. */
export interface Model {
	readonly schema: Schema;
	readonly facts: Facts;
	/** Mapping rules for all proxy configs, in any order; absent if there are none. */
	readonly mapping_rules?: readonly MappingRules[];
	/** True if checks may contain contextual facts. */
	readonly contextual_facts?: boolean;
	/**
	 * The active policy's schema, if it differs from `schema`. The data then suspends the parts of the policy that the
	 * newer schema removed.
	 */
	readonly in_force?: Schema;
}

/** A Rego source file in a policy; `path` is relative to the bundle's root and uses `/`. */
export interface RegoFile {
	readonly path: string;
	readonly text: string;
}

/**
 * A step from an older data document to a newer document. `path` lists the field names from the document's root.
 * `upsert` creates missing parents and replaces an existing value. Removing an absent value has no effect.
 */
export type Patch =
	| { readonly op: 'upsert'; readonly path: readonly string[]; readonly value: Json }
	| { readonly op: 'remove'; readonly path: readonly string[] };
