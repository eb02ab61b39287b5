import { SelectField } from '../../../part/select-field.js';
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
			<SelectField
				inline
				label="Revision"
				value={String(shown ?? '')}
				empty={shown === null ? 'Choose a revision' : undefined}
				options={offered.map(String)}
				onValue={(revision) => search.set({ revision, lines: '' })}
			/>
			<a href={screenPath('policy', { view: 'revisions' })}>All revisions</a>
		</>
	);
}
