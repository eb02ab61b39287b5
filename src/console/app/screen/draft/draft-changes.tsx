import { useLayoutEffect, useRef } from 'preact/hooks';
import { operationWords } from '../../../model/change/change-words.js';
import type { Draft } from '../../../model/draft/draft.js';
import { type DraftedChange, describeDraft } from '../../../model/draft/draft-words.js';
import type { StaleDraft } from '../../../model/draft/stale-draft.js';
import { withoutDraftChange } from '../../../model/schema/schema-part.js';
import { announce } from '../../../part/announce.js';
import { Button } from '../../../part/button.js';
import { Section } from '../../../part/section.js';
import { currentDraft, editDraft } from '../../current-draft.js';
import { focusTitle } from '../../focus-title.js';
import { KeyText } from '../../part/key-text.js';
import { FoldedRows } from '../../part/table/folded-rows.js';
import type { ReadSchema } from '../../read-schema.js';

interface DraftChangesProps {
	readonly draft: Draft;
	readonly stored: ReadSchema;
	readonly stale: StaleDraft | null;
}

/** Number of changes to show first. */
const changesAtOnce = 20;

const marks = { create: 'good', update: 'warn', delete: 'bad' } as const;
const words = { create: 'create', update: 'change', delete: 'delete' } as const;

/** Changes in the draft, in words. Each has a remove button, which also removes the changes that depend on it. */
export function DraftChanges({ draft, stored: { objects }, stale }: DraftChangesProps) {
	const changes = describeDraft(objects, draft);
	const items = useRef<HTMLOListElement>(null);
	// After a change is removed, focus moves to the next change.
	const place = useRef<number | null>(null);
	useLayoutEffect(() => {
		if (place.current === null) return;
		const list = items.current?.children;
		list?.[Math.min(place.current, list.length - 1)]?.querySelector('button')?.focus();
		place.current = null;
	}, [draft]);
	const takeOut = (index: number) => {
		place.current = index;
		editDraft(draft.base_revision, (now) => withoutDraftChange(objects, now, index));
		const removed = changes.length - (currentDraft.value?.changes.length ?? 0);
		announce(removed === 1 ? 'Change removed from the draft.' : `${removed} changes removed from the draft.`);
		if (currentDraft.value === null) focusTitle();
	};
	const overtaken = new Set(stale?.objects.map(({ index }) => index));
	return (
		<Section id="draft-changes" title="Changes">
			<FoldedRows rows={changes} atOnce={changesAtOnce}>
				{(shown) => (
					<ol class="draft-changes" ref={items}>
						{shown.map((change, index) => (
							<li key={`${change.kind} ${change.name}`}>
								<Change change={change} isOvertaken={overtaken.has(index)} onTakeOut={() => takeOut(index)} />
							</li>
						))}
					</ol>
				)}
			</FoldedRows>
		</Section>
	);
}

interface ChangeProps {
	readonly change: DraftedChange;
	readonly isOvertaken: boolean;
	readonly onTakeOut: () => void;
}

function Change({ change, isOvertaken, onTakeOut }: ChangeProps) {
	const { kind, name, operation, differences, redundant } = change;
	return (
		<>
			<div class="line">
				<span class={`badge ${marks[operation]}`}>{words[operation]}</span>
				<span>
					{kind} <KeyText text={name} />
				</span>
				{isOvertaken && <span class="badge bad">changed elsewhere</span>}
				{redundant && <span class="quiet">{operation === 'delete' ? 'Already deleted.' : 'No difference.'}</span>}
				<Button
					class="end"
					aria-label={`Remove from the draft: ${kind} ${name} ${operationWords[operation]}`}
					onClick={onTakeOut}
				>
					Remove
				</Button>
			</div>
			{differences.length > 0 && (
				<dl class="draft-difference">
					{differences.map(({ name: member, removed, added, reordered }) => (
						<div key={member}>
							<dt>
								<KeyText text={member} />
							</dt>
							<dd>
								{removed.map((text, place) => (
									<del key={place}>
										<span class="unseen">without </span>
										<KeyText text={text} />
									</del>
								))}
								{added.map((text, place) => (
									<ins key={place}>
										<span class="unseen">with </span>
										<KeyText text={text} />
									</ins>
								))}
								{reordered && <span class="quiet">reordered</span>}
							</dd>
						</div>
					))}
				</dl>
			)}
		</>
	);
}
