import { Empty } from '../../part/empty.js';
import { mayWrite } from '../../session.js';
import { useSearch } from '../../use-search.js';

/** First page of an environment without resources. */
export function EmptyModel() {
	const search = useSearch();
	return (
		<Empty title="No resources yet">
			<p>Add a resource for each type of object in your application, then add its actions and roles.</p>
			{mayWrite.value && (
				<button type="button" class="primary" onClick={() => search.set({ add: 'resource' })}>
					Add resource
				</button>
			)}
		</Empty>
	);
}
