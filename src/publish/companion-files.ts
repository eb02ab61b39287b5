import { layout, type RegoFile, type Schema, schemaTables, writeTests } from '../../compiler/index.js';

/**
 * Returns the files that accompany a schema's Rego: tests, and the data tables at the path where `opa` finds them.
 * Decision points receive the same tables in their data document. Returns no files if the Rego expects a different
 * table layout than this version writes.
 */
export function companionFiles(schema: Schema, layoutOfRego: number): readonly RegoFile[] {
	if (layoutOfRego !== layout) return [];
	const tables = `${JSON.stringify(schemaTables(schema), null, '\t')}\n`;
	return [{ path: 'regolith/schema/data.json', text: tables }, ...writeTests(schema)];
}
