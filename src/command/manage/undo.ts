import { Undo } from '../../wire/general/draft.js';
import type { Told } from '../declaration.js';
import { requireRevision } from '../revision-word.js';
import { askFor, path } from '../server.js';
import type { Session, SharedOptions } from '../session.js';
import { visible } from '../terminal.js';
import { sendDraft } from './draft.js';

export interface UndoOptions extends SharedOptions {
	/** Position of a single change in the revision. */
	readonly position?: string;
	readonly apply?: true;
}

/** Prints the draft that undoes a revision, or applies it. Exit code 1 means that some changes cannot be undone. */
export async function undo(session: Session, { position, apply }: UndoOptions, revision: string): Promise<Told> {
	const { project, environment } = await session.place();
	const at = path`/v2/projects/${project}/envs/${environment}/changes/${requireRevision(revision)}/undo`;
	const body = position === undefined ? {} : { position: Number(requireRevision(position, '--position')) };
	const { left, ...draft } = (await askFor(session.api, at, Undo, { method: 'POST', body })).body;
	const exit = left.length === 0 ? 0 : 1;
	if (!apply) {
		return {
			text: `${JSON.stringify(draft, null, '\t')}\n`,
			json: { draft, left, applied: null },
			document: true,
			exit,
		};
	}
	const { text, json } = await sendDraft(session, {}, draft);
	const lines = left.map(({ kind, operation, key }) => `Not undone: ${operation} ${kind} ${visible(key)}\n`);
	return { text: text + lines.join(''), json: { draft, left, applied: json }, exit };
}
