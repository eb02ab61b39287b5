import { useLocation } from 'preact-iso';
import { modelPath } from '../../../model/schema/model-path.js';
import { partWords } from '../../../model/schema/part-words.js';
import { deletedFacts, mayHaveFacts, type RemovalEffect, removalEffects } from '../../../model/schema/removal.js';
import { ownKey, type SchemaPart, withoutPart } from '../../../model/schema/schema-part.js';
import { announce } from '../../../part/announce.js';
import { Button } from '../../../part/button.js';
import { management } from '../../api.js';
import { currentDraft, editDraft } from '../../current-draft.js';
import { Dialog } from '../../part/dialog.js';
import { KeyText } from '../../part/key-text.js';
import { PhraseText } from '../../part/phrase-text.js';
import { screenPath } from '../../screen-path.js';
import { useSideData } from '../../use-loaded.js';
import type { ModelView } from './model-view.js';
import { addButtonId } from './part-list.js';

interface RemovalDialogProps {
	readonly view: ModelView;
	readonly part: SchemaPart;
	readonly onClose: () => void;
}

/** Asks for confirmation before a part is deleted, and lists everything that is deleted or changed with it. */
export function RemovalDialog({ view: { objects, revision }, part, onClose }: RemovalDialogProps) {
	const { route } = useLocation();
	const draft = currentDraft.value ?? { base_revision: revision, changes: [] };
	const effects = removalEffects(objects, draft, part);
	const name = `${partWords[part.kind]} ${ownKey(part)}`;
	const hasFacts = mayHaveFacts(objects, part);
	const remove = () => {
		editDraft(revision, (begun) => withoutPart(objects, begun, part));
		announce(`Draft updated: ${name} deleted.`);
		if (part.kind === 'resource') route(screenPath(modelPath({ page: 'resources' })));
		else onClose();
		// The row with the focused button may no longer exist.
		requestAnimationFrame(() => document.getElementById(addButtonId(part.kind))?.focus());
	};
	return (
		<Dialog title={`Delete ${name}`} onClose={onClose}>
			{effects.length === 0 && !hasFacts && <p>Nothing else is deleted.</p>}
			<Effects title="Also deleted" effects={effects.filter(({ effect }) => effect === 'deleted')} />
			<Effects title="Changed" effects={effects.filter(({ effect }) => effect === 'changed')} />
			<Effects
				title="Condition sets that compare the attribute"
				effects={effects.filter(({ effect }) => effect === 'compares')}
			/>
			{hasFacts && <FactCounts revision={revision} part={part} />}
			<p class="quiet">The deletion goes to the draft and takes effect when you publish it.</p>
			<div class="line">
				<Button class="danger" onClick={remove}>
					Delete in draft
				</Button>
				<Button onClick={onClose}>Cancel</Button>
			</div>
		</Dialog>
	);
}

function Effects({ title, effects }: { readonly title: string; readonly effects: readonly RemovalEffect[] }) {
	if (effects.length === 0) return null;
	return (
		<>
			<h3>{title}</h3>
			<ul class="model-effects">
				{effects.map(({ kind, name, lost }) => (
					<li key={`${kind} ${name}`}>
						{kind} <KeyText text={name} />
						{lost.map((phrases, index) => (
							<span key={index}>
								{index === 0 ? ' ' : ', '}
								<PhraseText phrases={phrases} />
							</span>
						))}
					</li>
				))}
			</ul>
		</>
	);
}

/** Counts the stored facts that are deleted with a part. The server previews the deletion. */
function FactCounts({ revision, part: { kind, key } }: { readonly revision: number; readonly part: SchemaPart }) {
	const preview = useSideData(
		async (signal) =>
			management.post('/v2/projects/{proj_id}/envs/{env_id}/drafts/preview', {
				body: { base_revision: revision, changes: [{ kind, operation: 'delete', key }] } as never,
				signal,
			}),
		[revision, kind, key],
	);
	const { value, failure } = preview;
	const counts = deletedFacts(value?.changes ?? []);
	return (
		<>
			<h3>Stored data</h3>
			<div role="status">
				{failure !== null && <p class="failure">The affected data cannot be counted: {failure.message}</p>}
				{value === null && failure === null && <p class="quiet">Counting…</p>}
				{value !== null && counts.length === 0 && !value.truncated && (
					<p>No instance, role or relationship is deleted.</p>
				)}
				{value !== null && (counts.length > 0 || value.truncated) && (
					<p>
						Deleted{value.truncated && ', at least'}: {counts.join(', ')}
					</p>
				)}
			</div>
		</>
	);
}
