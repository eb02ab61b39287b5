/** The compiler's public interface: pure functions from complete values to complete values. */
import { check } from './check.js';
import { document } from './data/data.js';
import type { Diagnostic } from './diagnostic.js';
import type { Json, Model, RegoFile, Schema } from './model.js';
import { writePolicy } from './policy/policy.js';

export {
	type BrokenObject,
	brokenByDiagnostics,
	brokenByPaths,
	brokenTitle,
	withoutBroken,
} from './broken-objects.js';
export { document, documentBytes, documentSteps, factTables, schemaTables } from './data/data.js';
export { delta, patchDocument } from './data/delta.js';
export type { Diagnostic } from './diagnostic.js';
export { layout } from './layout.js';
export type { Json, Model, Patch, Permission, RegoFile, Role, Schema } from './model.js';
export { usesTime } from './policy/ago-policy.js';
export { writeTests } from './test/test-policy.js';

/** Compiled model. A model with an error has only diagnostics: use `'policy' in compiled` to narrow the type. */
export type Compiled =
	| { readonly diagnostics: readonly Diagnostic[] }
	| { readonly diagnostics: readonly Diagnostic[]; readonly policy: readonly RegoFile[]; readonly data: Json };

/** Compiled schema; `policy` is null if a diagnostic is an error. */
export interface CompiledPolicy {
	readonly diagnostics: readonly Diagnostic[];
	readonly policy: readonly RegoFile[] | null;
}

/**
 * Compiles a whole environment into its schema's Rego and its data document. Equal models give equal results, in any
 * row order. Never throws.
 */
export function compile(model: Model): Compiled {
	const { diagnostics, policy } = compilePolicy(model.schema);
	return policy === null ? { diagnostics } : { diagnostics, policy, data: document(model) };
}

/** Compiles the schema only, for use when the facts have not changed. Facts never change the Rego. */
export function compilePolicy(schema: Schema): CompiledPolicy {
	const diagnostics = check(schema);
	const sound = diagnostics.every((diagnostic) => diagnostic.severity !== 'error');
	return { diagnostics, policy: sound ? writePolicy(schema) : null };
}
