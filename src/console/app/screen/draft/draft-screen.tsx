import { useSignal } from '@preact/signals';
import { ApiFailure } from '../../../model/api-failure.js';
import type { Draft } from '../../../model/draft/draft.js';
import { readStaleDraft, type StaleDraft } from '../../../model/draft/stale-draft.js';
import { Section } from '../../../part/section.js';
import { setter } from '../../../part/setter.js';
import { answeredOnce, management } from '../../api.js';
import { currentDraft } from '../../current-draft.js';
import { Empty } from '../../part/empty.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Screen } from '../../part/screen.js';
import { type ReadSchema, readSchema } from '../../read-schema.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import { useLoaded, useSideData } from '../../use-loaded.js';
import { runTests } from '../tests/run-tests.js';
import { ConflictList } from './conflict-list.js';
import { DraftActions } from './draft-actions.js';
import { DraftChanges } from './draft-changes.js';
import { DraftFileField } from './draft-file-field.js';
import { DraftImpact, type Impact } from './draft-impact.js';
import { DraftPreview } from './draft-preview.js';
import { DraftTests } from './draft-tests.js';
import { PublishDraft, type Published, PublishedNote } from './publish-draft.js';

/** The draft screen: the draft and its impact. */
export function DraftScreen() {
	const published = useSignal<Published | null>(null);
	const draft = currentDraft.value;
	// Reload the schema after publishing.
	const schema = useLoaded(readSchema, [published.value?.revision]);
	return (
		<Screen
			title="Draft and impact"
			about="Collect changes, see who would gain or lose access, then publish them together."
		>
			{published.value !== null && draft === null && <PublishedNote published={published.value} />}
			{/* Without a draft, the hint is shown before the schema is loaded. */}
			{draft === null && <NoDraft />}
			<LoadedFrame loaded={schema}>
				{(stored) => (
					<>
						{draft !== null && <Drafted draft={draft} stored={stored} onPublished={setter(published)} />}
						<DraftFileField stored={stored} />
					</>
				)}
			</LoadedFrame>
		</Screen>
	);
}

function NoDraft() {
	return (
		<Empty title="The draft is empty">
			<p>
				Change the <a href={screenPath('model')}>model</a> or a cell in the{' '}
				<a href={screenPath('matrix')}>policy matrix</a>, edit a{' '}
				<a href={screenPath('condition-sets')}>condition set</a>, undo an entry under{' '}
				<a href={screenPath('changes')}>Changes</a>, or load a draft from a file.
			</p>
		</Empty>
	);
}

interface DraftedProps {
	readonly draft: Draft;
	readonly stored: ReadSchema;
	readonly onPublished: (published: Published) => void;
}

function Drafted({ draft, stored, onPublished }: DraftedProps) {
	const refused = useSignal<StaleDraft | null>(null);
	const preview = useSideData(
		async (signal) => {
			refused.value = null;
			return management.post('/v2/projects/{proj_id}/envs/{env_id}/drafts/preview', { body: draft as never, signal });
		},
		[JSON.stringify(draft)],
	);
	const stale = refused.value ?? staleDraft(preview.failure);
	const isTried = !preview.loading && (preview.failure === null || isTooLong(preview.failure));
	const tests = useSideData(
		async (signal) => (isTried ? runTests(draft, signal) : null),
		[JSON.stringify(draft), isTried],
	);
	const impact = useSideData(
		async (signal) => (isTried ? askImpact(draft, signal) : null),
		[JSON.stringify(draft), isTried],
	);
	const isShown = stale === null && preview.failure === null;
	return (
		<>
			<DraftActions draft={draft} />
			<DraftChanges draft={draft} stored={stored} stale={stale} />
			{stale !== null && <ConflictList stale={stale} draft={draft} />}
			{isShown && <DraftTests loaded={tests} />}
			{isShown && <DraftImpact loaded={impact} />}
			{mayWrite.value && stale === null && (
				<PublishDraft
					draft={draft}
					tests={tests.value}
					impact={impact}
					isTried={isTried}
					onPublished={onPublished}
					onStale={setter(refused)}
				/>
			)}
			{stale === null && (
				<Section id="draft-preview" title="Preview">
					<LoadedFrame loaded={preview}>{(found) => <DraftPreview preview={found} />}</LoadedFrame>
				</Section>
			)}
		</>
	);
}

function askImpact(draft: Draft, signal: AbortSignal): Promise<Impact> {
	return answeredOnce(
		management.post('/v2/projects/{proj_id}/envs/{env_id}/impact', { body: { draft } as never, signal }),
	);
}

/** True if the server stopped the preview so that other writes could proceed. Such a draft can still be published. */
function isTooLong(failure: Error): boolean {
	return failure instanceof ApiFailure && failure.info['code'] === 'TAKES_TOO_LONG';
}

function staleDraft(failure: Error | null): StaleDraft | null {
	return failure instanceof ApiFailure && failure.status === 409 ? readStaleDraft(failure.info) : null;
}
