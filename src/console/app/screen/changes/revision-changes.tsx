import { useSignal } from '@preact/signals';
import type { components } from '#management-api';
import { maySayReverse } from '../../../model/draft/undo-changes.js';
import { ActionButton } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { KeyText } from '../../part/key-text.js';
import { TimeText } from '../../part/time-text.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import { ChangeItem } from './change-item.js';
import { draftUndo } from './draft-undo.js';

type Change = components['schemas']['ChangeRead'];

interface RevisionChangesProps {
	/** Consecutive changes in one revision, newest first. */
	readonly changes: readonly Change[];
	/** True if the list contains all changes in the revision. */
	readonly isWhole: boolean;
}

/** Changes made by one write. */
export function RevisionChanges({ changes, isWhole }: RevisionChangesProps) {
	const drafted = useSignal(false);
	const [first] = changes;
	if (first === undefined) return null;
	const { revision, created_at, actor } = first;
	const undo = async (undone: readonly Change[]) => {
		announce(await draftUndo(undone.toReversed(), isWhole));
		drafted.value = true;
	};
	const only = { from: String(revision), to: String(revision) };
	return (
		<li>
			<header class="line">
				<h2>
					<a href={screenPath('changes', only)}>Revision {revision}</a>
				</h2>
				<span>
					<TimeText at={created_at} /> <span class="quiet">({new Date(created_at).toLocaleString('en-GB')})</span>
				</span>
				<span>
					by <Actor actor={actor} />
				</span>
				{mayWrite.value && isWhole && changes.length > 1 && (
					<span class="end">
						<ActionButton act={() => undo(changes)}>Undo this revision</ActionButton>
					</span>
				)}
			</header>
			<ul class="changes-items">
				{changes.map((change) => (
					<ChangeItem
						key={change.position}
						change={change}
						undo={mayWrite.value && maySayReverse(change, Date.now()) ? () => undo([change]) : null}
					/>
				))}
			</ul>
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
			{actor.name === null ? <KeyText text={actor.id} /> : <KeyText text={actor.name} />}
		</a>
	);
}
