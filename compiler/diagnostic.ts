/** Schema findings: codes and severities. */

/** Severity per diagnostic code. Codes are stable; messages may change. */
const severities = {
	/** Two objects of the same kind have the same key. */
	duplicate_key: 'error',
	/** A key is empty or not printable ASCII, or a resource key contains a colon. */
	malformed_key: 'error',
	/** A permission, a relation or a condition set refers to a missing resource type. */
	unknown_resource: 'error',
	/** A permission or a set rule refers to an action missing from its resource type. */
	unknown_action: 'error',
	/** A missing role is extended, derived from, an operand of a computed role, or used by a condition set. */
	unknown_role: 'error',
	/** A derivation refers to a relation missing from its resource type. */
	unknown_relation: 'error',
	/** Roles extend each other in a cycle. */
	role_cycle: 'error',
	/**
	 * A computed role is computed or derived from itself, has derivations or grant conditions, or could be held without
	 * any role; or a role connected to a computed role with derived roles is not supported.
	 */
	misplaced_computed_role: 'error',
	/**
	 * A parent set, or a set in a set rule, is missing or has the wrong type; or a role or relation declares a missing
	 * grant condition.
	 */
	unknown_condition_set: 'error',
	/** A resource set has no resource type. */
	misplaced_resource: 'error',
	/**
	 * A parent set, a set in a set rule, or the resource type that an automatic set selects has a different resource
	 * type.
	 */
	other_resource: 'error',
	/** Condition sets narrow each other in a cycle. */
	condition_set_cycle: 'error',
	/** A set's conditions do not match the grammar. `at` is the location of the invalid part. */
	malformed_conditions: 'error',
	/**
	 * A set or a computed role excludes a role that users may hold conditionally, or a computed role that users may hold
	 * conditionally has derived roles.
	 */
	excluded_condition: 'error',
	/** A role lists a permission or an extended role twice, or a set rule exists twice. The duplicate has no effect. */
	repeated: 'warning',
} as const satisfies Record<string, 'error' | 'warning'>;

export type DiagnosticCode = keyof typeof severities;

/** A schema finding. A model with an error is not compiled; a warning is only reported. */
export interface Diagnostic {
	readonly code: DiagnosticCode;
	/** A line of prose, with keys in backquotes. */
	readonly message: string;
	/** The keys from the schema's root to the object, such as `['roles', 'editor', 'permissions', 'document:read']`. */
	readonly at: readonly string[];
	readonly severity: 'error' | 'warning';
}

/**
 * Keys are parts of Rego package paths. For characters beyond ASCII, the output of `opa fmt` depends on its Unicode
 * version. `opa fmt` escapes control characters in a form that Rego cannot parse.
 */
const printable = /^[ -~\b\t\n\f\r]+$/;

/** Checks the keys in a list. */
export function keyProblems(
	parent: readonly string[],
	objects: readonly { readonly key: string }[],
): readonly Diagnostic[] {
	const keys = objects.map((object) => object.key);
	return [
		...keys
			.filter((key) => !printable.test(key))
			.map((key) => finding('malformed_key', [...parent, key], `the key ${tick(key)} is empty or not printable ASCII`)),
		...repeated(keys).map((key) =>
			finding('duplicate_key', [...parent, key], `the key ${tick(key)} is used more than once`),
		),
	];
}

/** Creates a finding with its code's severity. */
export function finding(code: DiagnosticCode, at: readonly string[], message: string): Diagnostic {
	return { code, message, at, severity: severities[code] };
}

/** Returns the repeated keys, without duplicates. */
export function repeated(keys: readonly string[]): readonly string[] {
	const seen = new Set<string>();
	const twice = new Set<string>();
	for (const key of keys) {
		(seen.has(key) ? twice : seen).add(key);
	}
	return [...twice];
}

/** Quotes a key for a message. */
export function tick(key: string): string {
	return `\`${key}\``;
}
