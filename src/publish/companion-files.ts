import { layout, type RegoFile, type Schema, schemaTables, writeTests } from '../../compiler/index.js';

/**
 * The files that accompany the Rego of a schema: the tables that decide with it, where `opa` finds them, and tests.
 * Decision points get the same tables in their data document. None where the Rego reads tables of another layout than
 * this version writes.
 */
export function companionFiles(schema: Schema, layoutOfRego: number): readonly RegoFile[] {
	if (layoutOfRego !== layout) return [];
	const tables = `${JSON.stringify(schemaTables(schema), null, '\t')}\n`;
	return [{ path: 'regolith/schema/data.json', text: tables }, ...writeTests(schema)];
}
