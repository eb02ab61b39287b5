/** Findings about a schema: their codes and how bad they are. */

/** Every code a diagnostic can have, and how bad it is. Codes are stable; messages may change. */
const severities = {
	/** Two objects of one kind have one key. */
	duplicate_key: 'error',
	/** A key is empty or holds characters other than ASCII. */
	malformed_key: 'error',
	/** A permission, a relation or a condition set names a resource type that does not exist. */
	unknown_resource: 'error',
	/** A permission or a set rule names an action that does not exist on its resource type. */
	unknown_action: 'error',
	/** A role that does not exist is extended, derived from, or named by a condition set. */
	unknown_role: 'error',
	/** A derivation names a relation that its resource type does not have. */
	unknown_relation: 'error',
	/** Roles extend each other in a cycle. */
	role_cycle: 'error',
	/** A condition set narrows, or a set rule names, a set that does not exist, or one of the other type. */
	unknown_condition_set: 'error',
	/** A resource set names no resource type, or a user set names one. */
	misplaced_resource: 'error',
	/** A condition set narrows, or a set rule names, a resource set of another resource type. */
	other_resource: 'error',
	/** Condition sets narrow each other in a cycle. */
	condition_set_cycle: 'error',
	/** The conditions of a set are not in the grammar; `at` leads to the place. */
	malformed_conditions: 'error',
	/** A role lists a permission or an extended role twice, or a set rule exists twice; it counts once. */
	repeated: 'warning',
} as const satisfies Record<string, 'error' | 'warning'>;

/** The stable name of a finding. */
export type DiagnosticCode = keyof typeof severities;

/** One finding about a schema. A model with an error is not compiled; a warning is only reported. */
export interface Diagnostic {
	readonly code: DiagnosticCode;
	/** One line of prose; keys stand in backquotes. */
	readonly message: string;
	/** The keys from the schema's root, such as `['roles', 'editor', 'permissions', 'document:read']`. */
	readonly at: readonly string[];
	readonly severity: 'error' | 'warning';
}

/**
 * Keys are parts of package paths in Rego. How `opa fmt` prints them beyond ASCII depends on the version of Unicode
 * that it was built with, and it escapes control characters in a way that Rego does not read.
 */
const printable = /^[ -~\b\t\n\f\r]+$/;

/** What is wrong with the keys of the objects in one list. */
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

/** A finding with the severity of its code. */
export function finding(code: DiagnosticCode, at: readonly string[], message: string): Diagnostic {
	return { code, message, at, severity: severities[code] };
}

/** The keys that occur more than once, each named once. */
export function repeated(keys: readonly string[]): readonly string[] {
	const seen = new Set<string>();
	const twice = new Set<string>();
	for (const key of keys) {
		(seen.has(key) ? twice : seen).add(key);
	}
	return [...twice];
}

/** A key inside a message. */
export function tick(key: string): string {
	return `\`${key}\``;
}
