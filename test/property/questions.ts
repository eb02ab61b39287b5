import { compilePolicy, type Json, type RegoFile } from '../../compiler/index.js';
import type { Model } from '../../compiler/model.js';
import type { Query } from './query.js';

/** A check in the form accepted by the engines. */
export type Question = Query & { readonly [member: string]: Json };

/** Compiles a model to Rego. Throws if its schema has errors. */
export function rego({ schema }: Model): readonly RegoFile[] {
	const { policy, diagnostics } = compilePolicy(schema);
	if (policy === null) throw new Error(`the model has errors: ${JSON.stringify(diagnostics)}`);
	return policy;
}

/** Joins queries and results, so a failure shows both. */
export function answered(queries: readonly Question[], codes: readonly Json[]): readonly string[] {
	return queries.map((query, index) => `${JSON.stringify(query)} -> ${codes[index]}`);
}
