import { screenPath } from '../../screen-path.js';
import { newestRevision } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { readPolicies } from './read-policies.js';

/** Selection among the newest policies. */
export function RevisionChoice({ shown }: { readonly shown: number | null }) {
	const search = useSearch();
	const { value } = useLoaded((signal) => readPolicies(1, signal), [newestRevision.value]);
	const listed = (value?.data ?? []).map(({ schema_revision }) => schema_revision);
	const offered = shown === null || listed.includes(shown) ? listed : [shown, ...listed];
	return (
		<>
			<label class="inline">
				<span>Revision</span>
				<select
					value={shown ?? ''}
					onChange={(event) => search.set({ revision: event.currentTarget.value, lines: '' })}
				>
					{shown === null && <option value="">Choose a revision</option>}
					{offered.map((one) => (
						<option key={one} value={one}>
							{one}
						</option>
					))}
				</select>
			</label>
			<a href={screenPath('policy', { view: 'revisions' })}>All revisions</a>
		</>
	);
}
