import { readFileSync, writeFileSync } from 'node:fs';
import { ImportReport } from '../../wire/general/environment-import.js';
import type { Told } from '../declaration.js';
import { onFile } from '../on-file.js';
import { ask, askFor, decodeText, path, queryText } from '../server.js';
import type { Session, SharedOptions } from '../session.js';
import { table, visible } from '../terminal.js';

/** Timeout for importing or exporting a whole environment, in milliseconds. */
const timeout = 600_000;

export interface ExportOptions extends SharedOptions {
	/** File to write. */
	readonly output?: string;
}

export interface ImportOptions extends SharedOptions {
	readonly dryRun?: true;
	readonly conflictStrategy: string;
}

/** Exports an environment as a document. Does not parse the text, so numbers keep their exact form. */
export async function exportEnvironment(session: Session, { output }: ExportOptions): Promise<Told> {
	const { project, environment } = await session.place();
	const at = path`/v2/projects/${project}/envs/${environment}/export`;
	const { body, revision } = await ask(session.api, at, { timeout });
	const document = decodeText(body);
	if (output === undefined) return { text: document, document: true };
	onFile(output, () => writeFileSync(output, document, { mode: 0o600 }));
	return { text: `Exported to ${visible(output)} (revision ${revision})\n`, json: { file: output, revision } };
}

/**
 * Reads a document from a file or standard input and imports it. After a dry run, exit code 1 means that the import has
 * changes.
 */
export async function importEnvironment(session: Session, options: ImportOptions, file: string): Promise<Told> {
	const { dryRun, conflictStrategy } = options;
	const body = onFile(file, () => readFileSync(file === '-' ? 0 : file));
	const { project, environment } = await session.place();
	const query = queryText({ conflict_strategy: conflictStrategy, dry_run: dryRun ? 'true' : undefined });
	const at = path`/v2/projects/${project}/envs/${environment}/import` + query;
	const answer = await askFor(session.api, at, ImportReport, { method: 'POST', body, timeout });
	const { total, counts } = answer.body;
	const rows = Object.entries(counts).map(([kind, { create, update, delete: gone }]) => [
		kind,
		String(create),
		String(update),
		String(gone),
	]);
	const changes = `${total} ${total === 1 ? 'change' : 'changes'}`;
	const summary = dryRun
		? `Dry run: ${changes}. Nothing was changed.`
		: `Imported ${changes} (revision ${answer.revision})`;
	return {
		text: `${rows.length === 0 ? '' : table(['KIND', 'CREATE', 'UPDATE', 'DELETE'], rows)}${summary}\n`,
		json: { ...answer.body, revision: dryRun ? null : answer.revision },
		exit: dryRun && total > 0 ? 1 : 0,
	};
}
