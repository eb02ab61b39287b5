import { schemaKinds, summariseRevisions, summaryText } from '../../../model/change/revision-changes.js';
import { management } from '../../api.js';
import { Empty } from '../../part/empty.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { DataTable } from '../../part/table/data-table.js';
import { Pager } from '../../part/table/pager.js';
import { TimeText } from '../../part/time-text.js';
import { screenPath } from '../../screen-path.js';
import { newestRevision } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { readPolicies } from './read-policies.js';

/** Published policies with their times and authors, and links for comparing two policies. */
export function PublishedRevisions() {
	const search = useSearch();
	const page = Number(search.get('page')) || 1;
	const loaded = useLoaded((signal) => readRevisions(page, signal), [page, newestRevision.value]);
	return (
		<LoadedFrame loaded={loaded}>
			{({ rows, newest, page_count, total_count }) =>
				rows.length === 0 ? (
					<Empty title="No policies yet" docs={{ page: 'policy/policy', title: 'The policy' }}>
						<p>The first policy is published when the schema has a resource.</p>
					</Empty>
				) : (
					<>
						<DataTable
							caption="Published policies"
							rows={rows}
							rowKey={({ revision }) => String(revision)}
							columns={[
								{
									title: 'Revision',
									cell: ({ revision }) => <a href={screenPath('policy', { revision: String(revision) })}>{revision}</a>,
								},
								{ title: 'Published', cell: ({ publishedAt }) => <TimeText at={publishedAt} /> },
								{
									title: 'Author',
									cell: ({ summary }) =>
										summary !== null && (
											<div class="policy-authors">
												<KeyText text={summary.authors.join(', ')} />
											</div>
										),
								},
								{
									title: 'Changes',
									cell: ({ revision, before, summary }) => (
										<a
											href={screenPath('changes', {
												from: String((before ?? revision - 1) + 1),
												to: String(revision),
											})}
										>
											{summary === null ? 'View' : summaryText(summary)}
										</a>
									),
								},
								{
									title: 'Compare',
									cell: ({ revision, before }) => (
										<span class="line">
											{before !== null && <a href={compared(before, revision)}>With {before}</a>}
											{revision !== newest && <a href={compared(revision, newest)}>With {newest}</a>}
										</span>
									),
								},
							]}
						/>
						<Pager page={page} list={{ page_count, total_count }} />
					</>
				)
			}
		</LoadedFrame>
	);
}

function compared(from: number, to: number): string {
	return screenPath('policy', { view: 'compare', from: String(from), to: String(to) });
}

/** Reads a page of policies. Each policy has a summary of its changes. */
async function readRevisions(page: number, signal: AbortSignal) {
	const { data, page_count, total_count } = await readPolicies(page, signal);
	const revisions = data.map(({ schema_revision }) => schema_revision);
	const [newest] = revisions;
	const first = page === 1 ? newest : (await readPolicies(1, signal)).data[0]?.schema_revision;
	const isLast = page >= page_count;
	const changes = newest === undefined ? null : await readSchemaChanges(newest, signal);
	const summaries = summariseRevisions(revisions, changes?.data ?? [], {
		isLast,
		isComplete: changes !== null && changes.page_count < 2,
	});
	const rows = data.map(({ schema_revision, published_at }, index) => ({
		revision: schema_revision,
		publishedAt: published_at,
		before: revisions[index + 1] ?? null,
		summary: summaries[index] ?? null,
	}));
	return { rows, newest: first ?? 0, page_count, total_count };
}

function readSchemaChanges(revision_to: number, signal: AbortSignal) {
	const query = { kind: [...schemaKinds], revision_to, per_page: 100 };
	return management.get('/v2/projects/{proj_id}/envs/{env_id}/changes', { query, signal });
}
