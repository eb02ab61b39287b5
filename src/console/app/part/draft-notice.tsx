import { currentDraft } from '../current-draft.js';
import { screenPath } from '../screen-path.js';

/** Number of changes in the draft, with a link to publish them. Empty without a draft. */
export function DraftNotice() {
	const draft = currentDraft.value;
	if (draft === null) return null;
	const count = draft.changes.length;
	return (
		<p class="notice">
			{count === 1 ? '1 change' : `${count} changes`} in the draft, based on revision {draft.base_revision}.{' '}
			<a href={screenPath('draft')}>Review and publish</a>
		</p>
	);
}
