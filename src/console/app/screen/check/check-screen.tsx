import { checkQuery, readCheckForm } from '../../../model/check/check-form.js';
import { Screen } from '../../part/screen.js';
import { Tabs } from '../../part/tabs.js';
import { screenPath } from '../../screen-path.js';
import { useSearch } from '../../use-search.js';
import { CheckView } from './check-view.js';
import { FilterView } from './filter/filter-view.js';

const views = [
	['', 'Check'],
	['filter', 'Filter'],
] as const;

/** The check screen. The URL contains the whole check or filter, so a link shares the decision. */
export function CheckScreen() {
	const search = useSearch();
	const form = readCheckForm(search.get);
	const isFilter = search.get('view') === 'filter';
	return (
		<Screen
			title="Check and why"
			about={
				isFilter
					? 'Turn a user’s access into a condition for a database query.'
					: 'Check whether a user may perform an action, and see every way to allow the check.'
			}
		>
			<Tabs
				label="Views"
				tabs={views.map(([name, title]) => {
					return { name, title, href: screenPath('check', { view: name, ...checkQuery(form) }) };
				})}
				open={isFilter ? 'filter' : ''}
			/>
			{isFilter ? <FilterView form={form} /> : <CheckView form={form} />}
		</Screen>
	);
}
