import { ApiFailure } from '../../../model/api-failure.js';
import { program } from '../../../model/program.js';
import { Button } from '../../../part/button.js';
import { Empty } from '../../part/empty.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { DataTable } from '../../part/table/data-table.js';
import { screenPath } from '../../screen-path.js';
import { newestRevision } from '../../session.js';
import { useSideData } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { readTests } from './read-policies.js';
import { RevisionChoice } from './revision-choice.js';

/** Results of the policy's generated tests. The server runs the tests when this view is opened. */
export function TestedRevision() {
	const search = useSearch();
	const revision = search.get('revision') || String(newestRevision.value);
	const loaded = useSideData((signal) => readOutcome(revision, signal), [revision]);
	const shown = loaded.loading ? null : (loaded.value?.results?.schema_revision ?? null);
	return (
		<>
			<div class="line">
				<RevisionChoice shown={shown} />
			</div>
			<p class="quiet">
				Generated tests check the rules and tables against the schema. They run on the server, which takes a while for a
				large policy. To run them on your machine, use <code>{program} test</code>.
			</p>
			<LoadedFrame loaded={loaded}>
				{({ results, refused }) =>
					results === null ? (
						<p class="failure" role="alert">
							{refused} <Button onClick={loaded.reload}>Try again</Button>
						</p>
					) : (
						<Results results={results} />
					)
				}
			</LoadedFrame>
		</>
	);
}

type TestResults = Awaited<ReturnType<typeof readTests>>;

function Results({ results: { schema_revision, passed, failed, tests } }: { readonly results: TestResults }) {
	const all = passed + failed;
	if (all === 0) {
		return (
			<Empty title="No generated tests">
				<p>The schema has nothing to test, or a different version of Regolith generated the policy.</p>
			</Empty>
		);
	}
	const rows = tests.filter((one) => !one.passed);
	return (
		<>
			<p role="status">
				<strong class={failed === 0 ? 'state good' : 'state bad'}>
					{passed} of {all} tests pass
				</strong>
				, schema revision {schema_revision}.{failed > rows.length && ` Showing the first ${rows.length} failures.`}
			</p>
			{rows.length > 0 && (
				<DataTable
					caption="Failed tests"
					rows={rows}
					rowKey={({ file, row, name }) => `${file}:${row} ${name}`}
					columns={[
						{ title: 'Test', cell: ({ name }) => <code>{name}</code> },
						{
							title: 'Location',
							cell: ({ file, row }) => (
								<a href={`${screenPath('policy', { revision: String(schema_revision), file })}#L${row}`}>
									{file}:{row}
								</a>
							),
						},
						{ title: 'Error', cell: ({ error }) => error },
					]}
				/>
			)}
		</>
	);
}

/**
 * Returns the results, or the message of a 503. Rethrowing a 503 would repeat the request, and the tests,
 * automatically.
 */
async function readOutcome(revision: string, signal: AbortSignal) {
	try {
		return { results: await readTests(revision, signal), refused: null };
	} catch (error) {
		if (!(error instanceof ApiFailure) || error.status !== 503) throw error;
		return { results: null, refused: error.message };
	}
}
