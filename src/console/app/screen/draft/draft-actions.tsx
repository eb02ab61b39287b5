import type { Draft } from '../../../model/draft/draft.js';
import { program } from '../../../model/program.js';
import { announce } from '../../../part/announce.js';
import { Button } from '../../../part/button.js';
import { replaceDraft } from '../../current-draft.js';
import { focusTitle } from '../../focus-title.js';
import { saveFile } from '../../save-file.js';

/** Actions on the whole draft. Publishing is a separate component. */
export function DraftActions({ draft }: { readonly draft: Draft }) {
	return (
		<p class="line">
			<span>
				{draft.changes.length === 1 ? '1 change' : `${draft.changes.length} changes`}, based on revision{' '}
				{draft.base_revision}
			</span>
			<Button onClick={() => saveFile(new Blob([`${JSON.stringify(draft, null, 2)}\n`]), 'draft.json')}>
				Download draft.json
			</Button>
			<Button
				onClick={() => {
					replaceDraft(null);
					focusTitle();
					announce('Draft discarded.');
				}}
			>
				Discard draft
			</Button>
			<span class="quiet">
				In a pipeline: <code>{program} impact draft.json --fail-on-loss</code>
			</span>
		</p>
	);
}
