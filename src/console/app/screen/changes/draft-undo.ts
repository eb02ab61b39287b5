import { withChange } from '../../../model/draft/draft.js';
import { management } from '../../api.js';
import { currentDraft, editDraft } from '../../current-draft.js';

/**
 * Adds the undo of a revision, or of the change at a position in it, to the draft. Returns a summary. Throws
 * `ApiFailure` if nothing can be undone.
 */
export async function draftUndo(revision: number, position?: number): Promise<string> {
	const resources = currentDraft.value?.changes.filter(({ kind }) => kind === 'resource') ?? [];
	const { base_revision, changes, left } = await management.post(
		'/v2/projects/{proj_id}/envs/{env_id}/changes/{revision}/undo',
		{ path: { revision: String(revision) }, body: { position, changes: resources } as never },
	);
	editDraft(base_revision, (draft) => changes.reduce(withChange, draft));
	const done = changes.length === 1 ? 'Undo added to the draft.' : `${changes.length} changes added to the draft.`;
	return left.length === 0 ? done : `${done} Changes that a draft cannot undo: ${left.length}.`;
}
