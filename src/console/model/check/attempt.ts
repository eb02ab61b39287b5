import type { GrantCondition } from '../grant-condition.js';

/**
 * Parts of a decision point's response that check explanations use (docs/contribute/decision-point.md: Attempts). These
 * types are compatible with the generated API types.
 */

/** A stored or possible fact. Instances have the form `<type>:<key>`. */
export type AttemptFact =
	| { readonly fact: 'tenant'; readonly tenant: string }
	| { readonly fact: 'user'; readonly user: string }
	| { readonly fact: 'resource_instance'; readonly resource_instance: string; readonly tenant: string }
	| {
			readonly fact: 'role_assignment';
			readonly user: string;
			readonly role: string;
			readonly tenant: string;
			/** Instance on which the user has the role; absent for a role in the tenant. */
			readonly resource_instance?: string | undefined;
	  }
	| {
			readonly fact: 'relationship_tuple';
			readonly subject: string;
			readonly relation: string;
			readonly object: string;
			readonly tenant: string;
	  };

/**
 * Step in an attempt: the source of the role in the previous step. Instance roles have the form
 * `<type>:<key>#<role>`.
 */
export type AttemptStep =
	| {
			readonly type: 'role_assignment';
			readonly role: string;
			/** `__tenant:<key>` for a tenant, or an instance. */
			readonly resource: string;
			readonly file?: string | undefined;
	  }
	| {
			readonly type: 'role_derivation';
			readonly role: string;
			readonly resource: string;
			readonly relation: string;
			readonly subject: string;
			readonly file: string;
	  }
	| {
			readonly type: 'computed_role';
			readonly role: string;
			readonly resource: string;
			/** Keys of the roles that the user must not hold on the resource. */
			readonly excludes: readonly string[];
			readonly file: string;
	  }
	| {
			readonly type: 'set_rule';
			readonly userset?: string | undefined;
			readonly role?: string | undefined;
			readonly resourceset?: string | undefined;
			readonly resource_type?: string | undefined;
	  };

/** Comparison and its required result. */
export interface AttemptComparison {
	readonly set: string;
	readonly attribute: string;
	readonly operator: string;
	readonly operand?: unknown;
	readonly negated: boolean;
	/** True if the comparison already has the required result. */
	readonly met: boolean;
	/** Attribute to change. */
	readonly change: string;
	readonly now?: unknown;
	readonly example?: unknown;
}

/** Path through the schema, applied to specific objects. */
export interface Attempt {
	readonly passed: boolean;
	readonly by: 'role_in_tenant' | 'role_on_instance' | 'set_rule';
	readonly chain: readonly AttemptStep[];
	readonly policy: { readonly package: string; readonly file: string; readonly rule: string };
	readonly add: readonly AttemptFact[];
	readonly remove: readonly AttemptFact[];
	readonly compare: readonly AttemptComparison[];
}

/** Reason from one kind of grant. */
export interface Reasons {
	readonly allow: boolean;
	readonly code: string;
	readonly reason: string;
}

/** Source of a role on the instance: the last step in the path to the role. */
export interface RoleSource {
	readonly type: 'role_assignment' | 'role_derivation' | 'computed_role';
	/** Present for a role assigned to everyone. */
	readonly user?: string | undefined;
	/** Source role, as `<type>:<key>#<role>`. */
	readonly role: string;
	readonly resource: string;
	readonly relation?: string | undefined;
	/** Condition of a role assignment, or of the relationship behind a derived role. */
	readonly condition?: GrantCondition | undefined;
	/** True if the source is a contextual fact. */
	readonly contextual?: boolean | undefined;
}

/** Role on the instance that grants the action. */
export interface AllowingRole {
	/** Role, as `<type>:<key>#<role>`. */
	readonly role: string;
	readonly resource: string;
	readonly sources: readonly RoleSource[];
}

/** Content of `debug` in a response. */
export interface DecisionDebug {
	readonly request?:
		| {
				readonly user: { readonly attributes: Readonly<Record<string, unknown>> };
				readonly resource: { readonly attributes: Readonly<Record<string, unknown>> };
		  }
		| undefined;
	readonly rbac?: Reasons | undefined;
	readonly rebac?: (Reasons & { readonly allowing_roles?: readonly AllowingRole[] | undefined }) | undefined;
	readonly abac?: Reasons | undefined;
	readonly pending?: Reasons | undefined;
	/** Present, together with `reason`, only if nothing was evaluated. */
	readonly code?: string | undefined;
	readonly reason?: string | undefined;
	readonly attempts?: readonly Attempt[] | undefined;
	readonly truncated?: boolean | undefined;
	/** False if no role and no condition set rule grants the action. */
	readonly granted?: boolean | undefined;
	/** Roles held on the instance that a user set excludes, as `<type>:<key>#<role>`. */
	readonly blocking_roles?: readonly string[] | undefined;
}

const tenantMark = '__tenant:';

/** Returns the tenant key from a role's place; `null` if the place is an instance. */
export function placeTenant(place: string): string | null {
	return place.startsWith(tenantMark) ? place.slice(tenantMark.length) : null;
}

/** Returns the key from a role such as `editor` or `folder:plans#editor`. */
export function roleKey(role: string, place: string): string {
	return role.startsWith(`${place}#`) ? role.slice(place.length + 1) : role;
}

/** Splits an instance `<type>:<key>` into type and key. */
export function splitInstance(instance: string): { readonly type: string; readonly key: string } {
	const colon = instance.indexOf(':');
	return colon === -1
		? { type: instance, key: '' }
		: { type: instance.slice(0, colon), key: instance.slice(colon + 1) };
}
