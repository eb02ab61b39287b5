import { readFileSync } from 'node:fs';
import { AppliedDraft, DraftPreview } from '../../wire/general/draft.js';
import type { Told } from '../declaration.js';
import { onFile } from '../on-file.js';
import { askFor, path } from '../server.js';
import type { Session, SharedOptions } from '../session.js';
import { table, visible } from '../terminal.js';

/** Timeout for a draft, in milliseconds. */
const timeout = 600_000;

export interface ApplyOptions extends SharedOptions {
	readonly dryRun?: true;
}

/**
 * Reads a draft from a file or standard input and applies it. After a dry run, exit code 1 means that the draft would
 * change the environment.
 */
export async function applyDraft(session: Session, options: ApplyOptions, file: string): Promise<Told> {
	const body = onFile(file, () => readFileSync(file === '-' ? 0 : file));
	return sendDraft(session, options, body);
}

/** Applies a draft, or tries it in a dry run. */
export async function sendDraft(session: Session, { dryRun }: ApplyOptions, body: unknown): Promise<Told> {
	const { project, environment } = await session.place();
	const at = path`/v2/projects/${project}/envs/${environment}/drafts/`;
	const question = { method: 'POST', body, timeout } as const;
	if (dryRun) {
		const { body: preview } = await askFor(session.api, `${at}preview`, DraftPreview, question);
		const files = preview.policy.files.map((one) => one.path);
		const rego = files.length === 0 ? '' : `, ${count(files.length, 'Rego file')} affected`;
		const summary = `Dry run: ${count(preview.total, 'change')}${rego}. Nothing was changed.`;
		const json = { dry_run: true, ...told(preview), files, revision: null };
		return { text: listed(preview, summary), json, exit: preview.total > 0 ? 1 : 0 };
	}
	const { body: applied } = await askFor(session.api, `${at}apply`, AppliedDraft, question);
	const { changes, revision } = applied;
	const summary = `Applied ${count(changes.total, 'change')} (revision ${revision})`;
	return { text: listed(changes, summary), json: { dry_run: false, ...told(changes), files: null, revision } };
}

/** Changes made by a draft. `changes` may contain only some changes. */
interface Changed {
	readonly total: number;
	readonly changes: readonly { readonly kind: string; readonly operation: string; readonly key: string }[];
}

function told({ total, changes }: Changed): Changed {
	return { total, changes: changes.map(({ kind, operation, key }) => ({ kind, operation, key })) };
}

function listed({ total, changes }: Changed, summary: string): string {
	const rows = changes.map(({ kind, operation, key }) => [operation, kind, visible(key)]);
	const more = total > changes.length ? `and ${total - changes.length} more\n` : '';
	return `${rows.length === 0 ? '' : table(['OPERATION', 'KIND', 'KEY'], rows)}${more}${summary}\n`;
}

function count(number: number, noun: string): string {
	return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
