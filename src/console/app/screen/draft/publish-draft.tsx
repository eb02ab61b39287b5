import { useRef } from 'preact/hooks';
import { ApiFailure } from '../../../model/api-failure.js';
import { type TestCounts, testCountText } from '../../../model/check/check-test.js';
import { afterPublishing, type Draft } from '../../../model/draft/draft.js';
import { changedChecksText } from '../../../model/draft/impact-groups.js';
import { readStaleDraft, type StaleDraft } from '../../../model/draft/stale-draft.js';
import { Failure, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { management } from '../../api.js';
import { currentDraft, replaceDraft } from '../../current-draft.js';
import { focusTitle } from '../../focus-title.js';
import { confirmWrite } from '../../part/confirm.js';
import { screenPath } from '../../screen-path.js';
import { openSession } from '../../session.js';
import type { Loaded } from '../../use-loaded.js';
import type { Impact } from './draft-impact.js';

export interface Published {
	/** Revision that contains the draft. */
	readonly revision: number;
	/** Number of changed objects, including cascaded deletions. */
	readonly total: number;
}

interface PublishDraftProps {
	readonly draft: Draft;
	/** True if the preview of the draft succeeded. */
	readonly isTried: boolean;
	/** Impact of the draft. If it is unknown, publishing needs a confirmation, because the draft may revoke access. */
	readonly impact: Loaded<Impact | null>;
	/** Test results with the draft; `null` until the tests have run. */
	readonly tests: TestCounts | null;
	readonly onPublished: (published: Published) => void;
	readonly onStale: (stale: StaleDraft) => void;
}

/** Button that publishes the draft: either all of its changes or none. */
export function PublishDraft({ draft, isTried, impact, tests, onPublished, onStale }: PublishDraftProps) {
	const work = useWork();
	const button = useRef<HTMLButtonElement>(null);
	/** Moves focus from the button to the title before the button disappears. */
	const leave = () => {
		if (button.current === document.activeElement) focusTitle();
	};
	const publish = async () => {
		const { key } = openSession().environment;
		const count = draft.changes.length === 1 ? '1 change' : `all ${draft.changes.length} changes`;
		const warnings = [
			...impactWarning(impact.value),
			...(tests !== null && tests.failed > 0 ? [testCountText(tests)] : []),
		];
		const question = `Publish ${count} to ${key} in a single transaction?`;
		const text = [...warnings.map((warning) => `${warning}.`), question].join(' ');
		if (!(await confirmWrite('Publish draft', text, { always: warnings.length > 0 }))) return;
		try {
			const { revision, changes } = await management.post('/v2/projects/{proj_id}/envs/{env_id}/drafts/apply', {
				// The server validates the draft.
				body: draft as never,
			});
			leave();
			onPublished({ revision, total: changes.total });
			const now = currentDraft.value;
			// Keep changes made to the draft on a different screen during publishing.
			replaceDraft(now === null ? null : afterPublishing(now, draft, revision));
			announce(`Published as revision ${revision}.`);
		} catch (error) {
			const stale = error instanceof ApiFailure && error.status === 409 ? readStaleDraft(error.info) : null;
			if (stale === null) throw error;
			leave();
			onStale(stale);
		}
	};
	const isReady = isTried && !impact.loading && (impact.value !== null || impact.failure !== null);
	return (
		<>
			<p class="line">
				<button
					ref={button}
					type="button"
					class="primary"
					aria-disabled={work.busy || !isReady}
					onClick={() => {
						if (isReady) void work.run(publish);
					}}
				>
					{['Publish', isReady ? impactText(impact.value) : ''].filter(Boolean).join(': ')}
				</button>
				<span class="quiet">All changes are published together.</span>
			</p>
			<Failure text={work.failure} />
		</>
	);
}

function impactText(impact: Impact | null): string {
	return impact === null ? '' : changedChecksText(impact.counts, impact.truncated);
}

/** Returns a warning if the draft revokes access or if its impact is unknown. */
function impactWarning(impact: Impact | null): readonly string[] {
	if (impact === null) return ['The impact of the draft is unknown'];
	return impact.counts.lost > 0 ? [impactText(impact)] : [];
}

/** Publishing result, with links to the details. */
export function PublishedNote({ published: { revision, total } }: { readonly published: Published }) {
	const difference = { from: String(revision - 1), to: String(revision) };
	return (
		<div class="notice good" role="status">
			<p>
				<strong>Published as revision {revision}</strong>: {total === 1 ? '1 object' : `${total} objects`} changed.
			</p>
			<ul>
				<li>
					<a href={screenPath('policy', difference)}>Compare the policy</a>
				</li>
				<li>
					<a href={screenPath('changes', { from: String(revision), to: String(revision) })}>View or undo the changes</a>
				</li>
				<li>
					<a href={screenPath('check')}>Run a check</a>
				</li>
			</ul>
		</div>
	);
}
