import { useSignal } from '@preact/signals';
import { type CheckForm, checkQuery, filterBody } from '../../../../model/check/check-form.js';
import { Empty } from '../../../part/empty.js';
import { LoadedFrame } from '../../../part/loaded-frame.js';
import { openSession } from '../../../session.js';
import { useLoaded } from '../../../use-loaded.js';
import { useSearch } from '../../../use-search.js';
import { CheckFields } from '../check-fields.js';
import { askFilter } from './ask-filter.js';
import { FilterResult } from './filter-result.js';

/** Filter for the instances on which a user may perform an action. */
export function FilterView({ form }: { readonly form: CheckForm }) {
	const search = useSearch();
	const asked = useSignal(0);
	const query = filterBody(form);
	const canAsk = openSession().decision_point;
	const loaded = useLoaded(
		async (signal) => (query === null || !canAsk ? null : askFilter(query, signal)),
		[JSON.stringify(query), asked.value],
	);
	if (!canAsk) {
		return (
			<p class="notice">
				No decision point is configured for this environment, and only decision points return filters. Run one with the
				server (<code>npm start</code>), or set <code>CONSOLE_PDP_URL</code>.
			</p>
		);
	}
	const answer = loaded.value;
	const isCurrent = answer !== null && JSON.stringify(answer.query) === JSON.stringify(query);
	return (
		<>
			<CheckFields
				form={form}
				coversInstances
				onAsk={(next) => {
					search.set(checkQuery(next));
					asked.value += 1;
				}}
			/>
			{query === null ? (
				<Empty title="No filter yet" docs={{ page: 'develop/filters', title: 'Data filters' }}>
					<p>
						Enter a user, an action and a resource. The filter is a condition for your application’s query, such as
						“page 3 of the documents that ann may read”.
					</p>
				</Empty>
			) : (
				<LoadedFrame loaded={isCurrent ? loaded : { ...loaded, value: null }}>
					{(current) => current !== null && <FilterResult answer={current} />}
				</LoadedFrame>
			)}
		</>
	);
}
