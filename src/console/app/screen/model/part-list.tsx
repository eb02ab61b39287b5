import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { textMember } from '../../../model/matrix/value-members.js';
import { modelPath } from '../../../model/schema/model-path.js';
import { partLines, partWords } from '../../../model/schema/part-words.js';
import { ownKey, type PartKind, type PartRow, partName } from '../../../model/schema/schema-part.js';
import { visibleText } from '../../../model/visible-text.js';
import { Button } from '../../../part/button.js';
import { KeyLink } from '../../part/key-link.js';
import { KeyText } from '../../part/key-text.js';
import { PhraseText } from '../../part/phrase-text.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import { useSearch } from '../../use-search.js';
import { type ModelView, rowsOf } from './model-view.js';
import { PartBadge } from './part-badge.js';
import { PartButtons } from './part-buttons.js';

interface PartListProps {
	readonly view: ModelView;
	readonly kind: PartKind;
	/** Resource key; `null` outside resources. */
	readonly resource: string | null;
	readonly title: string;
	/** False in a deleted resource. */
	readonly editable?: boolean;
	/** Purpose of these parts, in one sentence. */
	readonly children: ComponentChildren;
}

/** Part list for one kind, with the draft state. */
export function PartList({ view, kind, resource, title, editable = true, children }: PartListProps) {
	const id = useId();
	const search = useSearch();
	const rows = rowsOf(view, kind, resource);
	return (
		<section aria-labelledby={id} class="model-section">
			<div class="line">
				<h2 id={id}>{title}</h2>
				{mayWrite.value && editable && (
					<Button class="end" id={addButtonId(kind)} onClick={() => search.set({ add: kind })}>
						Add {partWords[kind]}
					</Button>
				)}
			</div>
			<p class="quiet">{children}</p>
			{rows.length > 0 && (
				<ul class="model-parts">
					{rows.map((row) => (
						<PartItem key={partName(row.part)} view={view} row={row} />
					))}
				</ul>
			)}
		</section>
	);
}

/** Returns the id of the button that adds a part. The button takes focus after a part is deleted. */
export function addButtonId(kind: PartKind): string {
	return `model-add-${kind}`;
}

function PartItem({ view, row: { part, state } }: { readonly view: ModelView; readonly row: PartRow }) {
	const key = ownKey(part);
	const name = textMember(part.value, 'name');
	return (
		<li class={state ?? ''}>
			<div class="line">
				{part.kind === 'resource' ? (
					<KeyLink href={screenPath(modelPath({ page: 'resource', key }))} text={key} />
				) : (
					<strong>
						<KeyText text={key} />
					</strong>
				)}
				{name !== '' && name !== key && <span>{visibleText(name)}</span>}
				<PartBadge state={state} />
				{mayWrite.value && <PartButtons view={view} part={part} state={state} />}
			</div>
			{part.kind === 'resource' && state !== 'removed' && <ResourceSummary view={view} resource={key} />}
			{partLines(part).map((phrases, index) => (
				<p key={index} class="quiet">
					<PhraseText phrases={phrases} />
				</p>
			))}
		</li>
	);
}

/** Numbers of parts in a resource. */
function ResourceSummary({ view, resource }: { readonly view: ModelView; readonly resource: string }) {
	const counts = (['action', 'resource_role', 'relation', 'attribute'] as const).flatMap((kind) => {
		const count = rowsOf(view, kind, resource).filter(({ state }) => state !== 'removed').length;
		return count === 0 ? [] : [`${count} ${partWords[kind]}${count === 1 ? '' : 's'}`];
	});
	return <p class="quiet">{counts.length === 0 ? 'No actions yet' : counts.join(', ')}</p>;
}
