/**
 * What explanations of a check read of the answer of a decision point (docs/decision-point.md: Attempts). The generated
 * types of the API fit these.
 */

/** A fact that is stored, or could be. Instances are `<type>:<key>`. */
export type AttemptFact =
	| { readonly fact: 'tenant'; readonly tenant: string }
	| { readonly fact: 'user'; readonly user: string }
	| { readonly fact: 'resource_instance'; readonly resource_instance: string; readonly tenant: string }
	| {
			readonly fact: 'role_assignment';
			readonly user: string;
			readonly role: string;
			readonly tenant: string;
			/** Absent for a role in the tenant. */
			readonly resource_instance?: string | undefined;
	  }
	| {
			readonly fact: 'relationship_tuple';
			readonly subject: string;
			readonly relation: string;
			readonly object: string;
			readonly tenant: string;
	  };

/** One step of an attempt: where the role of the step before comes from. Roles on instances are `<type>:<key>#<role>`. */
export type AttemptStep =
	| {
			readonly type: 'role_assignment';
			readonly role: string;
			/** `__tenant:<key>`, or an instance. */
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
			readonly type: 'set_rule';
			readonly userset?: string | undefined;
			readonly role?: string | undefined;
			readonly resourceset?: string | undefined;
			readonly resource_type?: string | undefined;
	  };

/** A comparison that has to come out as it says. */
export interface AttemptComparison {
	readonly set: string;
	readonly attribute: string;
	readonly operator: string;
	readonly operand?: unknown;
	readonly negated: boolean;
	/** Whether it comes out so already. */
	readonly met: boolean;
	/** The attribute to change. */
	readonly change: string;
	readonly now?: unknown;
	readonly example?: unknown;
}

/** One path of the schema, bound to stored objects. */
export interface Attempt {
	readonly passed: boolean;
	readonly by: 'role_in_tenant' | 'role_on_instance' | 'set_rule';
	readonly chain: readonly AttemptStep[];
	readonly policy: { readonly package: string; readonly file: string; readonly rule: string };
	readonly add: readonly AttemptFact[];
	readonly remove: readonly AttemptFact[];
	readonly compare: readonly AttemptComparison[];
}

/** What one kind of grants says to a check. */
export interface Reasons {
	readonly allow: boolean;
	readonly code: string;
	readonly reason: string;
}

/** What `debug` of an answer holds. */
export interface DecisionDebug {
	readonly request?:
		| {
				readonly user: { readonly attributes: Readonly<Record<string, unknown>> };
				readonly resource: { readonly attributes: Readonly<Record<string, unknown>> };
		  }
		| undefined;
	readonly rbac?: Reasons | undefined;
	readonly rebac?: Reasons | undefined;
	readonly abac?: Reasons | undefined;
	readonly pending?: Reasons | undefined;
	/** Alone where nothing was evaluated. */
	readonly code?: string | undefined;
	readonly reason?: string | undefined;
	readonly attempts?: readonly Attempt[] | undefined;
	readonly truncated?: boolean | undefined;
}

const tenantMark = '__tenant:';

/** The key of the tenant that the place of a role is; `null` for an instance. */
export function placeTenant(place: string): string | null {
	return place.startsWith(tenantMark) ? place.slice(tenantMark.length) : null;
}

/** The key of a role: that of `editor`, and that of `folder:plans#editor`. */
export function roleKey(role: string, place: string): string {
	return role.startsWith(`${place}#`) ? role.slice(place.length + 1) : role;
}

/** The type and the key of an instance `<type>:<key>`. */
export function splitInstance(instance: string): { readonly type: string; readonly key: string } {
	const colon = instance.indexOf(':');
	return colon === -1
		? { type: instance, key: '' }
		: { type: instance.slice(0, colon), key: instance.slice(colon + 1) };
}
