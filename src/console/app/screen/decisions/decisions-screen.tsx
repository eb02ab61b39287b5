import { type DecisionFilter, isNarrowed, readDecisionFilter } from '../../../model/check/decision-filter.js';
import { Screen } from '../../part/screen.js';
import { useSearch } from '../../use-search.js';
import { DecisionFilters } from './decision-filters.js';
import { DecisionList } from './decision-list.js';
import { LogLosses } from './log-losses.js';

/** The decision log screen: lists decisions, newest first. */
export function DecisionsScreen() {
	const search = useSearch();
	const filter = readDecisionFilter(search.get);
	const page = Math.max(1, Number(search.get('page')) || 1);
	const apply = (next: DecisionFilter) => search.set({ ...next, page: '' });
	return (
		<Screen
			title="Decision log"
			about="Authorization decisions from your decision points, newest first. Select “Why” to explain a decision."
		>
			<LogLosses />
			<DecisionFilters filter={filter} onApply={apply} />
			<DecisionList
				key={JSON.stringify(filter)}
				filter={filter}
				isNarrowed={isNarrowed(filter)}
				page={page}
				turnTo={(next) => search.set({ page: next === 1 ? '' : String(next) })}
			/>
		</Screen>
	);
}
