import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { type Draft, type DraftChange, withChange } from '../../model/draft/draft.js';
import { Failure, useWork } from '../../part/action-button.js';
import { announce } from '../../part/announce.js';
import { Button } from '../../part/button.js';
import { currentDraft, editDraft, removeFromDraft } from '../current-draft.js';
import { screenPath } from '../screen-path.js';
import { confirmWrite } from './confirm.js';

interface SaveActionsProps {
	/** Object kind in drafts. */
	readonly kind: string;
	/** Name for the object in texts. */
	readonly noun: string;
	/** Key of the object; empty if the user has not entered a key. */
	readonly objectKey: string;
	/** Object in the format of drafts. */
	readonly value: unknown;
	readonly isStored: boolean;
	readonly isChanged: boolean;
	/** Revision of the stored object when editing began. */
	readonly revision: number;
	/** Reason why the object cannot be saved. */
	readonly problem: string | null;
	/** Screen with the list of these objects. */
	readonly list: string;
	/** Screen to open after saving. */
	readonly page: string;
	/** Main button: objects without an effect on access are saved immediately. */
	readonly main: 'draft' | 'now';
	/** Consequence of a deletion, as a sentence about the object. */
	readonly deletion: string;
	readonly save: () => Promise<void>;
	readonly remove: () => Promise<void>;
	readonly onSaved: () => void;
	/** Hint below the buttons. */
	readonly children: ComponentChildren;
}

/** Buttons to save or delete an object, in the draft or immediately. */
export function SaveActions({ kind, noun, objectKey, isStored, isChanged, onSaved, ...props }: SaveActionsProps) {
	const work = useWork();
	const { route } = useLocation();
	const ready = (act: () => Promise<void>) => () =>
		void work.run(async () => {
			if (!isChanged) throw new Error('There are no changes to save.');
			if (props.problem !== null) throw new Error(props.problem);
			await act();
		});
	const draft = (change: DraftChange) => editDraft(props.revision, (begun: Draft) => withChange(begun, change));
	const draftIt = ready(async () => {
		draft({ kind, operation: isStored ? 'update' : 'create', key: objectKey, value: props.value });
		announce(`Added ${objectKey} to the draft.`);
		onSaved();
		route(screenPath(props.page), true);
	});
	const saveIt = ready(async () => {
		if (!(await confirmWrite(`Save ${noun}`, `The change to ${objectKey} takes effect immediately.`))) return;
		await props.save();
		forgetDrafted(kind, objectKey);
		announce(`Saved ${objectKey}.`);
		onSaved();
		route(screenPath(props.page), true);
	});
	const deleteIt = () =>
		void work.run(async () => {
			if (!(await confirmWrite(`Delete ${noun}`, props.deletion, { always: true }))) return;
			await props.remove();
			forgetDrafted(kind, objectKey);
			announce(`Deleted ${objectKey}.`);
			route(screenPath(props.list));
		});
	const deleteInDraft = () => {
		draft({ kind, operation: 'delete', key: objectKey });
		announce(`Added the deletion of ${objectKey} to the draft.`);
		route(screenPath(props.list));
	};
	const isDrafted = findDrafted(kind, objectKey) !== -1;
	const saves = [
		{ name: 'draft', text: 'Add to draft', onClick: draftIt },
		{ name: 'now', text: 'Save now', onClick: saveIt },
	];
	return (
		<section class="save-actions" aria-label="Save or delete">
			<div class="line">
				{(props.main === 'draft' ? saves : saves.reverse()).map(({ name, text, onClick }) => (
					<Button
						key={name}
						class={props.main === name ? 'primary' : ''}
						aria-disabled={work.busy || !isChanged}
						onClick={onClick}
					>
						{text}
					</Button>
				))}
				{isDrafted && (
					<Button
						onClick={() => {
							forgetDrafted(kind, objectKey);
							announce(`Removed ${objectKey} from the draft.`);
							onSaved();
							if (!isStored) route(screenPath(props.list));
						}}
					>
						Remove from draft
					</Button>
				)}
				{isStored && (
					<span class="line end">
						<Button onClick={deleteInDraft}>Delete in draft</Button>
						<Button class="danger" onClick={deleteIt}>
							Delete now
						</Button>
					</span>
				)}
			</div>
			<p class="quiet">{props.children}</p>
			<Failure text={work.failure} />
		</section>
	);
}

function findDrafted(kind: string, objectKey: string): number {
	return (currentDraft.value?.changes ?? []).findIndex((change) => change.kind === kind && change.key === objectKey);
}

function forgetDrafted(kind: string, objectKey: string): void {
	const index = findDrafted(kind, objectKey);
	if (index !== -1) removeFromDraft(index);
}
