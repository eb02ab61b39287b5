import { useLocation } from 'preact-iso';
import type { ConditionSetValue } from '../../../model/condition/condition-set-value.js';
import { type DraftChange, withChange } from '../../../model/draft/draft.js';
import { Failure, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { answered, management } from '../../api.js';
import { currentDraft, editDraft, removeFromDraft } from '../../current-draft.js';
import { confirmWrite } from '../../part/confirm.js';
import { screenPath } from '../../screen-path.js';
import { environmentPath } from '../../session.js';

interface SetActionsProps {
	readonly setKey: string;
	/** Stored set; `null` if the environment does not contain it. */
	readonly stored: ConditionSetValue | null;
	readonly value: ConditionSetValue;
	/** Revision of the stored schema when editing began. */
	readonly revision: number;
	readonly isChanged: boolean;
	readonly isDrafted: boolean;
	/** Reason why the set cannot be saved. */
	readonly problem: string | null;
	readonly onSaved: () => void;
}

/** Buttons to delete a set, or to save it in the draft or immediately. */
export function SetActions({
	setKey,
	stored,
	value,
	revision,
	isChanged,
	isDrafted,
	problem,
	onSaved,
}: SetActionsProps) {
	const work = useWork();
	const { route } = useLocation();
	const missing = missingText(setKey, value) ?? problem;
	const page = screenPath(`condition-sets/${setKey}`);
	const ready = (act: () => Promise<void>) => () =>
		void work.run(async () => {
			if (!isChanged) throw new Error('There are no changes to save.');
			if (missing !== null) throw new Error(missing);
			await act();
		});
	const draft = (change: DraftChange) => editDraft(revision, (begun) => withChange(begun, change));
	const draftIt = ready(async () => {
		draft({ kind: 'condition_set', operation: stored === null ? 'create' : 'update', key: setKey, value });
		announce(`Added ${setKey} to the draft.`);
		onSaved();
		route(page, true);
	});
	const saveIt = ready(async () => {
		if (!(await confirmWrite('Save set', `The change to ${setKey} takes effect immediately.`))) return;
		await save(setKey, stored, value);
		forget(setKey);
		announce(`Saved ${setKey}.`);
		onSaved();
		route(page, true);
	});
	const deleteIt = () =>
		void work.run(async () => {
			const text = `This immediately deletes ${setKey} and the rules that use it.`;
			if (!(await confirmWrite('Delete set', text, { always: true }))) return;
			await answered(
				management.DELETE('/v2/schema/{proj_id}/{env_id}/condition_sets/{condition_set_id}', {
					params: { path: { ...environmentPath(), condition_set_id: setKey } },
				}),
			);
			forget(setKey);
			announce(`Deleted ${setKey}.`);
			route(screenPath('condition-sets'));
		});
	const deleteInDraft = () => {
		draft({ kind: 'condition_set', operation: 'delete', key: setKey });
		announce(`Added the deletion of ${setKey} to the draft.`);
		route(screenPath('condition-sets'));
	};
	return (
		<section class="condition-sets-actions" aria-label="Save or delete">
			<div class="line">
				<button type="button" class="primary" aria-disabled={work.busy || !isChanged} onClick={draftIt}>
					Add to draft
				</button>
				<button type="button" aria-disabled={work.busy || !isChanged} onClick={saveIt}>
					Save now
				</button>
				{isDrafted && (
					<button
						type="button"
						onClick={() => {
							forget(setKey);
							announce(`Removed ${setKey} from the draft.`);
							onSaved();
							if (stored === null) route(screenPath('condition-sets'));
						}}
					>
						Remove from draft
					</button>
				)}
				{stored !== null && (
					<span class="line end">
						<button type="button" onClick={deleteInDraft}>
							Delete in draft
						</button>
						<button type="button" class="danger" onClick={deleteIt}>
							Delete now
						</button>
					</span>
				)}
			</div>
			<p class="quiet">
				A draft collects changes. <a href={screenPath('draft')}>Draft and impact</a> shows who would gain or lose access
				before you publish it.
			</p>
			<Failure text={work.failure} />
		</section>
	);
}

function missingText(key: string, { name, type, resource }: ConditionSetValue): string | null {
	if (key === '') return 'Enter a key.';
	if (name === '') return 'Enter a name.';
	return type === 'resourceset' && resource === null ? 'Choose a resource.' : null;
}

function forget(setKey: string): void {
	const index = (currentDraft.value?.changes ?? []).findIndex(
		({ kind, key }) => kind === 'condition_set' && key === setKey,
	);
	if (index !== -1) removeFromDraft(index);
}

async function save(key: string, stored: ConditionSetValue | null, value: ConditionSetValue): Promise<void> {
	const { name, description, type, resource, parent } = value;
	const conditions = value.conditions as Record<string, unknown>;
	const collection = environmentPath();
	if (stored === null) {
		await answered(
			management.POST('/v2/schema/{proj_id}/{env_id}/condition_sets', {
				params: { path: collection },
				body: {
					key,
					name,
					type,
					conditions,
					...(description === null ? {} : { description }),
					...(resource === null ? {} : { resource_id: resource }),
					...(parent === null ? {} : { parent_id: parent }),
				},
			}),
		);
		return;
	}
	await answered(
		management.PATCH('/v2/schema/{proj_id}/{env_id}/condition_sets/{condition_set_id}', {
			params: { path: { ...collection, condition_set_id: key } },
			body: { name, description, conditions, parent_id: parent },
		}),
	);
}
