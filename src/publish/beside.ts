import { layout, type RegoFile, type Schema, schemaTables, writeTests } from '../../compiler/index.js';

/**
 * What a policy engineer gets of a schema beside its Rego: the tables that decide with it, where `opa` finds them, and
 * tests. Decision points get the same tables in their data document. Nothing where the Rego reads tables of another
 * layout than this version writes.
 */
export function besidePolicy(schema: Schema, layoutOfRego: number): readonly RegoFile[] {
	if (layoutOfRego !== layout) return [];
	const tables = `${JSON.stringify(schemaTables(schema), null, '\t')}\n`;
	return [{ path: 'regolith/schema/data.json', text: tables }, ...writeTests(schema)];
}
