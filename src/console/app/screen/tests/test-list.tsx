import { answered, management } from '../../api.js';
import { DataTable } from '../../part/data-table.js';
import { Empty } from '../../part/empty.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Pager } from '../../part/pager.js';
import { screenPath } from '../../screen-path.js';
import { environmentPath } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { ExpectedText, TestedCheckText, TestLink } from './test-texts.js';

/** Paged list of the environment's tests. */
export function TestList() {
	const search = useSearch();
	const page = Number(search.get('page')) || 1;
	const loaded = useLoaded((signal) => readTests(page, signal), [page]);
	return (
		<LoadedFrame loaded={loaded}>
			{({ data, total_count, page_count }) =>
				data.length === 0 ? (
					<Empty title="No tests yet">
						<p>
							A test is a check with its expected result, such as “ann can read document:plan”. Run a check under{' '}
							<a href={screenPath('check')}>Check and why</a> and choose “Save as test”, or create a test here.
						</p>
					</Empty>
				) : (
					<>
						<DataTable
							caption="Tests"
							rows={data}
							rowKey={({ id }) => id}
							columns={[
								{ title: 'Test', cell: (test) => <TestLink test={test} /> },
								{ title: 'Check', cell: ({ check }) => <TestedCheckText check={check} /> },
								{ title: 'Expected', cell: ({ expected }) => <ExpectedText expected={expected} /> },
							]}
						/>
						<Pager
							page={page}
							pageCount={page_count}
							totalCount={total_count}
							turnTo={(next) => search.set({ page: String(next) })}
						/>
					</>
				)
			}
		</LoadedFrame>
	);
}

async function readTests(page: number, signal: AbortSignal) {
	const query = { page, per_page: 50 };
	return answered(
		management.GET('/v2/schema/{proj_id}/{env_id}/check_tests', { params: { path: environmentPath(), query }, signal }),
	);
}
