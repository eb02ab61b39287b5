import { management } from '../../api.js';
import { Empty } from '../../part/empty.js';
import { PagedTable } from '../../part/table/paged-table.js';
import { screenPath } from '../../screen-path.js';
import { ExpectedText, TestedCheckText, TestLink } from './test-texts.js';

/** Tests in the environment, in pages. */
export function TestList() {
	return (
		<PagedTable
			caption="Tests"
			stacked
			parameter="page"
			load={(query, signal) =>
				management.get('/v2/schema/{proj_id}/{env_id}/check_tests', { query: { ...query, per_page: 50 }, signal })
			}
			dependencies={[]}
			rowKey={({ id }) => id}
			columns={[
				{ title: 'Test', cell: (test) => <TestLink test={test} /> },
				{ title: 'Check', cell: ({ check }) => <TestedCheckText check={check} /> },
				{ title: 'Expected', cell: ({ expected }) => <ExpectedText expected={expected} /> },
			]}
			empty={
				<Empty title="No tests yet" docs={{ page: 'policy/check-tests', title: 'Check tests' }}>
					<p>
						A test is a check with its expected result, such as “ann can read document:plan”. Run a check under{' '}
						<a href={screenPath('check')}>Check and why</a> and choose “Save as test”, or create a test here.
					</p>
				</Empty>
			}
		/>
	);
}
