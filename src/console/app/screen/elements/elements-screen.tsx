import { Screen } from '../../part/screen.js';
import { useSearch } from '../../use-search.js';
import { ElementDetail } from './element-detail.js';
import { ElementList } from './element-list.js';
import { EnvironmentOrigins } from './environment-origins.js';

/** The elements screen: lists the environment's elements. */
export function ElementsScreen() {
	const search = useSearch();
	const key = search.get('element');
	return (
		<Screen
			title="Elements"
			about="Pages embedded in your application, where its users manage, request and review access."
		>
			{key === '' ? (
				<>
					<ElementList />
					<EnvironmentOrigins />
				</>
			) : (
				<ElementDetail key={key} elementKey={key} />
			)}
		</Screen>
	);
}
