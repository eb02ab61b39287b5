import { layout, type RegoFile, type Schema, schemaTables, writeTests } from '../../compiler/index.js';

/**
 * Returns the files next to a schema's Rego: its data tables, at the path where `opa` finds them, and tests. Decision
 * points get the same tables in their data document. Empty if the Rego reads tables in a different layout than this
 * version writes.
 */
export function companionFiles(schema: Schema, layoutOfRego: number): readonly RegoFile[] {
	if (layoutOfRego !== layout) return [];
	const tables = `${JSON.stringify(schemaTables(schema), null, '\t')}\n`;
	return [{ path: 'regolith/schema/data.json', text: tables }, ...writeTests(schema)];
}
