import { useSignal } from '@preact/signals';
import type { components } from '#management-api';
import { ActionButton } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { KeyText } from '../../part/key-text.js';
import { NameText } from '../../part/name-text.js';
import { FoldedRows } from '../../part/table/folded-rows.js';
import { TimeText } from '../../part/time-text.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import { ChangeItem } from './change-item.js';
import { draftUndo } from './draft-undo.js';

type Change = components['schemas']['ChangeRead'];

/** Number of changes to show first for each revision. */
const changesAtOnce = 10;

/** Changes made by one write, newest first. */
export function RevisionChanges({ changes }: { readonly changes: readonly Change[] }) {
	const drafted = useSignal(false);
	const [first] = changes;
	if (first === undefined) return null;
	const { revision, created_at, actor } = first;
	const undo = async (position?: number) => {
		announce(await draftUndo(revision, position));
		drafted.value = true;
	};
	const only = { from: String(revision), to: String(revision) };
	return (
		<li>
			<header class="line">
				<h2>
					<a href={screenPath('changes', only)}>Revision {revision}</a>
				</h2>
				<TimeText at={created_at} />
				<span>
					by <Actor actor={actor} />
				</span>
				{mayWrite.value && changes.length > 1 && (
					<span class="end">
						<ActionButton act={() => undo()}>Undo this revision</ActionButton>
					</span>
				)}
			</header>
			<FoldedRows rows={changes} atOnce={changesAtOnce}>
				{(shown) => (
					<ul class="changes-items">
						{shown.map((change) => (
							<ChangeItem
								key={change.position}
								change={change}
								undo={mayWrite.value && change.undoable ? () => undo(change.position) : null}
							/>
						))}
					</ul>
				)}
			</FoldedRows>
			{drafted.value && (
				<p class="notice">
					The undo is in the draft and not published yet. <a href={screenPath('draft')}>Review the draft</a>
				</p>
			)}
		</li>
	);
}

function Actor({ actor }: { readonly actor: Change['actor'] }) {
	if (actor === null) return <>the server</>;
	return (
		<a href={screenPath('changes', { actor: actor.id })}>
			{actor.name === null ? <KeyText text={actor.id} /> : <NameText text={actor.name} />}
		</a>
	);
}
