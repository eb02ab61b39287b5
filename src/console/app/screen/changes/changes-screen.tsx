import { groupByRevision, isChangeKind, isChangeOperation } from '../../../model/change/change-words.js';
import { management } from '../../api.js';
import { Empty } from '../../part/empty.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Screen } from '../../part/screen.js';
import { Pager } from '../../part/table/pager.js';
import { screenPath } from '../../screen-path.js';
import { useLoaded } from '../../use-loaded.js';
import { type Search, useSearch } from '../../use-search.js';
import { ChangeFilters, filterNames } from './change-filters.js';
import { RevisionChanges } from './revision-changes.js';

/** Number of changes per page. Most revisions have fewer changes. */
const perPage = 50;

/** The changes screen: lists changes and undoes them. */
export function ChangesScreen() {
	const search = useSearch();
	const page = Number(search.get('page')) || 1;
	const query = changeQuery(search);
	const loaded = useLoaded(
		(signal) =>
			management.get('/v2/projects/{proj_id}/envs/{env_id}/changes', {
				query: { ...query, page, per_page: perPage },
				signal,
			}),
		[page, JSON.stringify(query)],
	);
	const isFiltered = filterNames.some((name) => search.get(name) !== '');
	return (
		<Screen title="Changes" about="All writes to this environment, newest first.">
			<ChangeFilters search={search} />
			<LoadedFrame loaded={loaded}>
				{({ data, page_count, total_count, revision }) =>
					data.length === 0 ? (
						<NothingFound isFiltered={isFiltered || page > 1} />
					) : (
						<>
							<ol class="changes-revisions">
								{groupByRevision(data).map((changes) => (
									<RevisionChanges key={changes[0]?.revision} changes={changes} />
								))}
							</ol>
							<Pager
								page={page}
								list={{ page_count, total_count }}
								// Keep the newest revision of the first opened page in the URL, so new changes
								// do not shift rows between pages.
								turnTo={(next) => search.set({ page: String(next), seen: search.get('seen') || String(revision) })}
							/>
						</>
					)
				}
			</LoadedFrame>
		</Screen>
	);
}

function NothingFound({ isFiltered }: { readonly isFiltered: boolean }) {
	if (!isFiltered) {
		return (
			<Empty title="No changes yet" docs={{ page: 'policy/drafts', title: 'Drafts' }}>
				<p>
					Start with the <a href={screenPath('matrix')}>policy matrix</a> or the{' '}
					<a href={screenPath('directory')}>directory</a>.
				</p>
			</Empty>
		);
	}
	return (
		<Empty title="No matching changes">
			<p>
				<a href={screenPath('changes')}>Clear filters</a>
			</p>
		</Empty>
	);
}

/** Returns the query for the address. Ignores invalid filter values. */
function changeQuery(search: Search) {
	const [kind, operation, text, actor] = ['kind', 'operation', 'text', 'actor'].map(search.get);
	const revision_from = revisionNumber(search.get('from'));
	const revision_to = revisionNumber(search.get('to')) ?? revisionNumber(search.get('seen'));
	const created_from = instantText(search.get('since'));
	const created_to = instantText(search.get('until'));
	return {
		...(kind && isChangeKind(kind) && { kind: [kind] }),
		...(operation && isChangeOperation(operation) && { operation: [operation] }),
		...(text && { search: text }),
		...(actor && { actor: [actor] }),
		...(revision_from !== undefined && { revision_from }),
		...(revision_to !== undefined && { revision_to }),
		...(created_from !== undefined && { created_from }),
		...(created_to !== undefined && { created_to }),
	};
}

function revisionNumber(text: string): number | undefined {
	return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Converts a date and time field's value, in the browser's time zone, to an instant. */
function instantText(value: string): string | undefined {
	const time = new Date(value);
	return value === '' || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
