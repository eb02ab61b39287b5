/** The compiler's whole input: complete, immutable values. Nothing is fetched while compiling. */

/** A JSON value, as it travels in bundles, patches and policy data. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/** One thing a user may do on a resource of its type. */
export interface Action {
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
}

/**
 * A resource type: the actions that exist on it, and the roles and relations of its instances (spec: Schema and facts
 * object fields).
 */
export interface Resource {
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
	readonly actions: readonly Action[];
	readonly roles: readonly ResourceRole[];
	/** The relations whose objects are of this type. */
	readonly relations: readonly Relation[];
}

/** A kind of relationship between instances of one type, the subjects, and instances of another, the objects. */
export interface Relation {
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
	/** The resource type of the subjects. */
	readonly subject: string;
}

/**
 * A role held on instances of one resource type. It grants actions of that type, also through `extends` (roles of the
 * same type, by key, any depth). It is assigned on an instance or derived there from roles on related instances.
 */
export interface ResourceRole {
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
	/** Keys of actions of the type. */
	readonly permissions: readonly string[];
	readonly extends: readonly string[];
	readonly derivations: readonly Derivation[];
	/** Whether a user with any role assigned on an instance derives none of this role there. */
	readonly no_direct_roles_on_object: boolean;
}

/** Who holds `role` on a subject of `relation` holds the role that is derived on its objects. */
export interface Derivation {
	/** The key of a relation of the type whose role is derived. */
	readonly relation: string;
	/** The key of a role of the relation's subjects. */
	readonly role: string;
	/** Whether a user with any role assigned on the object derives nothing by this. */
	readonly no_direct_roles_on_object: boolean;
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

/** Attributes of one thing, by name. */
export interface Attributes {
	readonly [name: string]: Json;
}

/**
 * What a condition set selects by: `conditions` in the grammar of the API (spec: Conditions grammar), or, for an
 * automatic set, all who hold a tenant role or everything of a resource type.
 */
type Selection = { readonly conditions: Json } | { readonly role: string } | { readonly resource: string };

/** Users, or resources of one type, that are selected at each check. A set grants nothing without a rule. */
export interface ConditionSet {
	/** One name space for each type of set. */
	readonly key: string;
	readonly name: string;
	readonly description: string | null;
	readonly type: 'userset' | 'resourceset';
	/** The resource type that a resource set narrows; null for user sets. */
	readonly resource: string | null;
	/** The key of the set, of the same type, that this one narrows: what is in a set is in its parent too. */
	readonly parent: string | null;
	readonly selects: Selection;
}

/** The users that a user set selects may do the action on the resources that a resource set selects. All by keys. */
export interface SetRule {
	readonly user_set: string;
	readonly resource_set: string;
	/** The resource type, which is that of the resource set. */
	readonly resource: string;
	readonly action: string;
}

/** What can exist and what is allowed: small, compiled into Rego modules and tables. */
export interface Schema {
	readonly resources: readonly Resource[];
	readonly roles: readonly Role[];
	readonly condition_sets: readonly ConditionSet[];
	readonly set_rules: readonly SetRule[];
}

/** A fact that may hold for a time only. */
export interface Expiring {
	/** When the fact ends, in milliseconds since 1970; absent where it holds for good. */
	readonly expires_at?: number;
}

/** One tenant role held by one user in one tenant, by keys. */
export interface RoleAssignment extends Expiring {
	readonly user: string;
	readonly role: string;
	readonly tenant: string;
}

/** A tenant and the attributes stored with it. */
export interface Tenant {
	readonly key: string;
	readonly attributes: Attributes;
}

/** What conditions can know of a user: the stored attributes, over `email`, `first_name` and `last_name` where known. */
export interface UserAttributes {
	readonly user: string;
	readonly attributes: Attributes;
}

/** The attributes stored with an instance. */
export interface InstanceAttributes {
	readonly type: string;
	readonly key: string;
	readonly attributes: Attributes;
}

/** One thing of a resource type, in one tenant. */
export interface Instance {
	readonly type: string;
	readonly key: string;
	readonly tenant: string;
}

/** One role of a resource type held by one user on one instance of it, by keys. */
export interface InstanceAssignment extends Expiring {
	readonly user: string;
	readonly role: string;
	readonly type: string;
	readonly instance: string;
}

/** A relationship tuple: `subject`, of the relation's subjects, is related to the object `instance` of `type`. */
export interface Relationship extends Expiring {
	readonly type: string;
	readonly instance: string;
	readonly relation: string;
	readonly subject_type: string;
	readonly subject: string;
}

/** What exists: large, never in Rego, always data. Users are listed by key. Order carries no meaning. */
export interface Facts {
	readonly users: readonly string[];
	readonly tenants: readonly Tenant[];
	/** Of tenant roles. */
	readonly role_assignments: readonly RoleAssignment[];
	readonly instances: readonly Instance[];
	readonly instance_assignments: readonly InstanceAssignment[];
	readonly relationships: readonly Relationship[];
	/** Of those that have any. */
	readonly user_attributes: readonly UserAttributes[];
	/** Of those that have any. */
	readonly instance_attributes: readonly InstanceAttributes[];
}

/** Which resource and action a request to a URL stands for (contract: `/allowed_url`). No policy reads it. */
export interface MappingRule {
	readonly url: string;
	/** `regex`: `url` is a regular expression. `null`: parts in braces stand for anything. */
	readonly url_type: 'regex' | null;
	/** In lower case. */
	readonly http_method: string;
	readonly resource: string;
	/** `null` stands for the action called like the method. */
	readonly action: string | null;
	/** The highest of the matching rules counts; `null` is 0. */
	readonly priority: number | null;
}

/** The mapping rules of one proxy config, in their order. Nothing else of a proxy config is in bundles. */
export interface MappingRules {
	/** The key of the proxy config. */
	readonly config: string;
	readonly rules: readonly MappingRule[];
}

/** One environment, whole. */
export interface Model {
	readonly schema: Schema;
	readonly facts: Facts;
	/** Of all proxy configs, in any order; none when absent. */
	readonly mapping_rules?: readonly MappingRules[];
	/**
	 * The schema that the policy reading the data was compiled from, if it is not `schema`: then the data suspends what
	 * the newer schema takes away.
	 */
	readonly in_force?: Schema;
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
