import { Screen } from '../../part/screen.js';
import { Tabs } from '../../part/tabs.js';
import { screenPath } from '../../screen-path.js';
import { useSearch } from '../../use-search.js';
import { ComparedRevisions } from './compared-revisions.js';
import { PolicyState } from './policy-state.js';
import { PublishedRevisions } from './published-revisions.js';
import { RevisionFiles } from './revision-files.js';
import { TestedRevision } from './tested-revision.js';

const views = [
	['', 'Files'],
	['compare', 'Compare'],
	['revisions', 'Revisions'],
	['tests', 'Generated tests'],
] as const;

/** The policy screen: generated Rego, by revision. */
export function PolicyScreen() {
	const search = useSearch();
	// A URL with two revisions opens the comparison.
	const view = search.get('view') || (search.get('from') !== '' && search.get('to') !== '' ? 'compare' : '');
	return (
		<Screen
			title="Rego and revisions"
			about="The Rego and lookup tables generated from the schema, as used by decision points. Each schema change publishes a new policy."
		>
			<PolicyState />
			<Tabs
				label="Views"
				tabs={views.map(([name, title]) => {
					const kept = keepsRevision(name) && { revision: search.get('revision') };
					return { name, title, href: screenPath('policy', { view: name, ...kept }) };
				})}
				open={view}
			/>
			<View name={view} />
		</Screen>
	);
}

/** True if a view shows a single revision, which is kept when the view changes. */
function keepsRevision(view: string): boolean {
	return view === '' || view === 'tests';
}

function View({ name }: { readonly name: string }) {
	if (name === 'compare') return <ComparedRevisions />;
	if (name === 'revisions') return <PublishedRevisions />;
	return name === 'tests' ? <TestedRevision /> : <RevisionFiles />;
}
