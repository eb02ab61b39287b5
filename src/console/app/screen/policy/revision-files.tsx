import { useMemo } from 'preact/hooks';
import { ApiFailure } from '../../../model/api-failure.js';
import { type PolicyFile, policyPart, policyTree } from '../../../model/policy/policy-files.js';
import { Empty } from '../../part/empty.js';
import { SearchField } from '../../part/field/search-field.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { TimeText } from '../../part/time-text.js';
import { screenPath } from '../../screen-path.js';
import { newestRevision } from '../../session.js';
import { useLoaded, useSideData } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { PolicyDownload } from './policy-download.js';
import { PolicyFileView } from './policy-file-view.js';
import { PolicyTree } from './policy-tree.js';
import { readPolicies, readPolicy } from './read-policies.js';
import { RevisionChoice } from './revision-choice.js';

/** Policy files at a revision or at the newest revision. Shows a tree and the open file. */
export function RevisionFiles() {
	const revision = useSearch().get('revision');
	return revision === '' ? <NewestFiles /> : <FilesAt revision={revision} />;
}

/** Files of the newest policy. Most revisions change only facts and publish no policy, so the view keeps its files. */
function NewestFiles() {
	const listed = useLoaded((signal) => readPolicies(1, signal), [newestRevision.value]);
	return (
		<LoadedFrame loaded={listed}>
			{({ data }) => <FilesAt revision={String(data[0]?.schema_revision ?? newestRevision.value)} />}
		</LoadedFrame>
	);
}

function FilesAt({ revision }: { readonly revision: string }) {
	const loaded = useSideData((signal) => readPolicy(revision, signal), [revision]);
	if (loaded.failure instanceof ApiFailure && loaded.failure.status === 404) {
		return (
			<>
				<RevisionChoice shown={null} />
				<Empty title={`No policy for revision ${revision}`} docs={{ page: 'policy/policy', title: 'The policy' }}>
					<p>
						The policy is no longer stored, or none has been published yet. The first policy is published when the
						schema has a resource.
					</p>
				</Empty>
			</>
		);
	}
	return (
		<LoadedFrame loaded={loaded}>
			{({ schema_revision, published_at, hash, files }) => (
				<>
					<div class="line">
						<RevisionChoice shown={schema_revision} />
						<span>
							published <TimeText at={published_at} />, Rego hash <code>{hash.slice(0, 12)}</code>
						</span>
					</div>
					<ChosenFile files={files} revision={schema_revision} />
					<PolicyDownload revision={schema_revision} />
				</>
			)}
		</LoadedFrame>
	);
}

function ChosenFile({ files, revision }: { readonly files: readonly PolicyFile[]; readonly revision: number }) {
	const search = useSearch();
	const [path, filter] = [search.get('file'), search.get('filter')];
	const nodes = useMemo(() => policyTree(files), [files]);
	const chosen = files.find((file) => file.path === path) ?? null;
	const addressBy = (file: string) => screenPath('policy', { revision: String(revision), file, filter });
	return (
		<div class="policy-sides">
			<details class="policy-files" open={path === '' || matchMedia('(min-width: 70rem)').matches}>
				<summary>Files</summary>
				<SearchField label="Find file" {...search.filter('filter')} />
				<PolicyTree nodes={nodes} filter={filter} chosen={path} address={addressBy} />
			</details>
			<section aria-label="Selected file" class="policy-file">
				{chosen !== null ? (
					<PolicyFileView key={chosen.path} file={chosen} part={policyPart(chosen.path)} revision={revision} />
				) : path !== '' ? (
					<Empty title="File not found in this policy">
						<p>
							<code>{path}</code> may exist in a different revision.
						</p>
					</Empty>
				) : (
					<Empty title="Choose a file">
						<p>
							<code>regolith/resources</code> has a package with the rules of each resource. Role permissions are in{' '}
							<code>regolith/schema/data.json</code>.
						</p>
					</Empty>
				)}
			</section>
		</div>
	);
}
