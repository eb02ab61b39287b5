import { withDocument } from '../../../model/draft/document-draft.js';
import { ActionButton } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { Button } from '../../../part/button.js';
import { Section } from '../../../part/section.js';
import { management } from '../../api.js';
import { editDraft } from '../../current-draft.js';
import { confirmWrite } from '../../part/confirm.js';
import { Empty } from '../../part/empty.js';
import { mayWrite, openSession } from '../../session.js';
import { reloadAll } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import type { ModelView } from './model-view.js';
import { addButtonId } from './part-list.js';
import { type Sample, samples } from './samples.js';

/** First page of an environment without resources: adds a resource, or starts from a sample. */
export function EmptyModel({ view }: { readonly view: ModelView }) {
	const search = useSearch();
	return (
		<>
			<Empty title="No resources yet" docs={{ page: 'policy/console#the-model', title: 'The model' }}>
				<p>Add a resource for each type of object in your application, then add its actions and roles.</p>
				{mayWrite.value && (
					<Button class="primary" id={addButtonId('resource')} onClick={() => search.set({ add: 'resource' })}>
						Add resource
					</Button>
				)}
			</Empty>
			{mayWrite.value && (
				<Section id="model-samples" title="Start from a sample">
					<p class="quiet">Each sample has a model, users, instances and tests.</p>
					<ul class="model-parts">
						{samples.map((sample) => (
							<SampleItem key={sample.title} view={view} sample={sample} />
						))}
					</ul>
				</Section>
			)}
		</>
	);
}

function SampleItem({ view: { objects, revision }, sample }: { readonly view: ModelView; readonly sample: Sample }) {
	const { title, about, read } = sample;
	const draftIt = async () => {
		const { default: document } = await read();
		editDraft(revision, (draft) => withDocument(objects, draft, document));
		announce(`Added ${title} to the draft.`);
	};
	const importIt = async () => {
		const { default: document } = await read();
		const { key } = openSession().environment;
		if (!(await confirmWrite('Import sample', `Import ${title} into ${key}? The import takes effect immediately.`)))
			return;
		await management.post('/v2/projects/{proj_id}/envs/{env_id}/import', {
			query: { conflict_strategy: 'fail' },
			// The server validates the document.
			body: document as never,
		});
		announce(`Imported ${title}.`);
		reloadAll();
	};
	return (
		<li>
			<div class="line">
				<strong>{title}</strong>
				<span class="line end">
					<ActionButton label={`Add to draft: ${title}`} act={draftIt}>
						Add to draft
					</ActionButton>
					<ActionButton label={`Import now: ${title}`} act={importIt}>
						Import now
					</ActionButton>
				</span>
			</div>
			<p class="quiet">{about}</p>
		</li>
	);
}
