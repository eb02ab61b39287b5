import { useSignal } from '@preact/signals';
import type { Draft } from '../../../model/draft/draft.js';
import { readDraftFile } from '../../../model/draft/draft-file.js';
import { Failure, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { Button } from '../../../part/button.js';
import { currentDraft, replaceDraft } from '../../current-draft.js';
import type { ReadSchema } from '../../read-schema.js';

/** Loads a draft from a file. The file is a downloaded draft, or the schema half of an environment document. */
export function DraftFileField({ stored }: { readonly stored: ReadSchema }) {
	const work = useWork();
	const note = useSignal<string | null>(null);
	const earlier = useSignal<Draft | null>(null);
	const take = (file: File | undefined) => {
		if (file === undefined) return;
		void work.run(async () => {
			note.value = null;
			const read = readDraftFile(await file.text(), stored.objects, stored.revision);
			if (read.draft.changes.length === 0) {
				note.value = 'The file contains no changes for this environment.';
				return;
			}
			earlier.value = currentDraft.value;
			replaceDraft(read.draft);
			note.value = read.note;
			announce(`Draft loaded from ${file.name}: ${read.draft.changes.length} changes.`);
		});
	};
	return (
		<section
			class="draft-file"
			aria-label="Load a draft"
			onDragOver={(event) => event.preventDefault()}
			onDrop={(event) => {
				event.preventDefault();
				take(event.dataTransfer?.files[0]);
			}}
		>
			<label>
				<span>Drop a draft or an environment document here, or choose a file</span>
				<input
					type="file"
					accept="application/json,.json"
					onChange={(event) => {
						take(event.currentTarget.files?.[0]);
						// Clear the field, so the user can choose the same file again.
						event.currentTarget.value = '';
					}}
				/>
			</label>
			<p class="quiet">The file replaces the current draft. Nothing changes until you publish.</p>
			{note.value !== null && <p role="status">{note.value}</p>}
			{earlier.value !== null && (
				<Button
					onClick={() => {
						replaceDraft(earlier.value);
						earlier.value = null;
						note.value = null;
						announce('Previous draft restored.');
					}}
				>
					Restore the previous draft
				</Button>
			)}
			<Failure text={work.failure} />
		</section>
	);
}
