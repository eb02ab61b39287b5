import { partWords } from '../../../model/schema/part-words.js';
import {
	ownKey,
	type PartState,
	partName,
	type SchemaPart,
	withRestoredPart,
} from '../../../model/schema/schema-part.js';
import { announce } from '../../../part/announce.js';
import { Button } from '../../../part/button.js';
import { currentDraft, editDraft } from '../../current-draft.js';
import { useSearch } from '../../use-search.js';
import type { ModelView } from './model-view.js';

interface PartButtonsProps {
	readonly view: ModelView;
	readonly part: SchemaPart;
	readonly state: PartState;
}

/** Buttons to edit, delete or restore a part. */
export function PartButtons({ view: { objects, revision }, part, state }: PartButtonsProps) {
	const search = useSearch();
	const name = `${partWords[part.kind]} ${ownKey(part)}`;
	const draft = currentDraft.value;
	if (state === 'removed') {
		const canRestore = draft !== null && withRestoredPart(objects, draft, part) !== null;
		if (!canRestore) return null;
		return (
			<Button
				class="end"
				aria-label={`Restore ${name}`}
				onClick={() => {
					editDraft(revision, (begun) => withRestoredPart(objects, begun, part) ?? begun);
					announce(`Restored ${name}.`);
				}}
			>
				Restore
			</Button>
		);
	}
	return (
		<span class="line end">
			<Button aria-label={`Edit ${name}`} onClick={() => search.set({ edit: partName(part) })}>
				Edit
			</Button>
			<Button aria-label={`Delete ${name}`} onClick={() => search.set({ remove: partName(part) })}>
				Delete
			</Button>
		</span>
	);
}
