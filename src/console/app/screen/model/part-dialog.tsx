import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { reasonPhrases } from '../../../model/phrase.js';
import { modelPath } from '../../../model/schema/model-path.js';
import { type PartForm, partFormProblem, readPartForm, writePartForm } from '../../../model/schema/part-form.js';
import { partWords } from '../../../model/schema/part-words.js';
import { ownKey, type PartKind, type SchemaPart, withPart } from '../../../model/schema/schema-part.js';
import { announce } from '../../../part/announce.js';
import { Button } from '../../../part/button.js';
import { editDraft } from '../../current-draft.js';
import { Dialog } from '../../part/dialog.js';
import { PhraseText } from '../../part/phrase-text.js';
import { screenPath } from '../../screen-path.js';
import { type ModelView, rowsOf } from './model-view.js';
import { PartFields } from './part-fields.js';

interface PartDialogProps {
	readonly view: ModelView;
	readonly kind: PartKind;
	/** Resource key; `null` outside resources. */
	readonly resource: string | null;
	/** Edited part; `null` to add a part. */
	readonly part: SchemaPart | null;
	readonly onClose: () => void;
}

/** Form for a new part, or for a part in the draft. Saving changes only the draft. */
export function PartDialog({ view, kind, resource, part, onClose }: PartDialogProps) {
	const { route } = useLocation();
	const form = useSignal(readPartForm(kind, part));
	const problem = useSignal<string | null>(null);
	const added = useSignal<string | null>(null);
	const element = useRef<HTMLFormElement>(null);
	/** Revision at which the form was filled in. The form does not include later changes. */
	const begun = useRef(view.revision);
	const owner = kind === 'resource' ? null : resource;
	/** Saves the form to the draft. Returns the key, or `null` if the form has a problem. */
	const save = (): string | null => {
		const { objects, policy } = view;
		const rows = part === null ? rowsOf(view, kind, owner).filter(({ state }) => state !== 'removed') : [];
		const now: PartForm = { ...form.value, key: form.value.key.trim() };
		problem.value = partFormProblem(kind, now, new Set(rows.map((row) => ownKey(row.part))));
		if (problem.value !== null) {
			element.current?.querySelector('input')?.focus();
			return null;
		}
		const value = writePartForm(kind, now, part?.value ?? {}, policy, resource ?? '');
		const key = owner === null ? now.key : `${owner}:${now.key}`;
		editDraft(begun.current, (draft) => withPart(objects, draft, { kind, key, value }));
		return now.key;
	};
	const title = part === null ? `Add ${partWords[kind]}` : `Edit ${partWords[kind]} ${ownKey(part)}`;
	return (
		<Dialog title={title} onClose={onClose}>
			<form
				ref={element}
				noValidate
				onSubmit={(event) => {
					event.preventDefault();
					const key = save();
					if (key === null) return;
					announce(`Draft updated: ${partWords[kind]} ${key}.`);
					if (kind === 'resource' && part === null) route(screenPath(modelPath({ page: 'resource', key })));
					else onClose();
				}}
			>
				<PartFields
					view={view}
					kind={kind}
					resource={resource}
					part={part}
					form={form.value}
					onChange={(change) => {
						form.value = { ...form.value, ...change };
						problem.value = null;
					}}
				/>
				{problem.value !== null && (
					<p class="failure" role="alert">
						<PhraseText phrases={reasonPhrases(problem.value)} />
					</p>
				)}
				{added.value !== null && (
					<p role="status">
						Added <PhraseText phrases={[{ name: added.value }]} /> to the draft.
					</p>
				)}
				<div class="line">
					<button type="submit" class="primary">
						{part === null ? title : 'Save to draft'}
					</button>
					{part === null && (
						<Button
							onClick={() => {
								const key = save();
								if (key === null) return;
								added.value = key;
								form.value = readPartForm(kind, null);
								element.current?.querySelector('input')?.focus();
							}}
						>
							Add and continue
						</Button>
					)}
				</div>
			</form>
		</Dialog>
	);
}
