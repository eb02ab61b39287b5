import type { ComponentChildren } from 'preact';
import { checkQuery } from '../../../model/check/check-form.js';
import { checkTestForm, testCountText } from '../../../model/check/check-test.js';
import { reasonPhrases } from '../../../model/phrase.js';
import { Empty } from '../../part/empty.js';
import { PhraseText } from '../../part/phrase-text.js';
import { FoldedTable } from '../../part/table/data-table.js';
import { screenPath } from '../../screen-path.js';
import type { TestRun } from './run-tests.js';
import { TestCoverage } from './test-coverage.js';
import { ExpectedText, TestedCheckText, TestLink } from './test-texts.js';

interface TestResultsProps {
	readonly results: TestRun;
	/** True if the tests ran with the draft. */
	readonly isDraft: boolean;
}

/** Results of a test run, with its coverage. */
export function TestResults({ results, isDraft }: TestResultsProps) {
	const { tests, base_revision, truncated, coverage } = results;
	return (
		<>
			<TestSummary results={results}>
				{' '}
				<span class="quiet">
					{isDraft ? `with the draft, based on revision ${base_revision}` : `at revision ${base_revision}`}
				</span>
			</TestSummary>
			{truncated && <p class="quiet">Not all tests ran: the environment exceeds the per-run limit.</p>}
			{tests.length === 0 ? (
				<Empty title="No tests yet" docs={{ page: 'policy/check-tests', title: 'Check tests' }}>
					<p>The coverage below shows which parts of the schema need tests.</p>
				</Empty>
			) : (
				<TestTable tests={tests} isDraft={isDraft} />
			)}
			<TestCoverage coverage={coverage} />
		</>
	);
}

/** Number of passed or failed tests. */
export function TestSummary({
	results,
	children,
}: {
	readonly results: TestRun;
	readonly children?: ComponentChildren;
}) {
	if (results.tests.length === 0) return null;
	return (
		<p role="status">
			<strong class={results.failed > 0 ? 'state bad' : 'state good'}>{testCountText(results)}</strong>
			{children}
		</p>
	);
}

export function TestTable({ tests, isDraft }: { readonly tests: TestRun['tests']; readonly isDraft: boolean }) {
	return (
		<FoldedTable
			caption="Test results, failed tests first"
			stacked
			rows={tests}
			rowKey={({ key }) => key}
			columns={[
				{
					title: 'Result',
					cell: ({ passed }) => <span class={passed ? 'badge good' : 'badge bad'}>{passed ? 'passed' : 'failed'}</span>,
				},
				{ title: 'Test', cell: (test) => <TestLink test={test} /> },
				{ title: 'Check', cell: ({ check }) => <TestedCheckText check={check} /> },
				{ title: 'Expected', cell: ({ expected }) => <ExpectedText expected={expected} /> },
				{
					title: 'Actual',
					cell: ({ result: { allow, code, reason } }) => (
						<>
							<ExpectedText expected={allow ? 'allow' : 'deny'} />{' '}
							<span class="draft-reason">
								<PhraseText phrases={reasonPhrases(reason === '' ? code : reason)} />
							</span>
						</>
					),
				},
				// The check screen uses the published policy.
				...(isDraft
					? []
					: [
							{
								title: 'Explain',
								align: 'end' as const,
								cell: (test: TestRun['tests'][number]) => (
									<a href={screenPath('check', checkQuery(checkTestForm(test).check))} aria-label={`Why: ${test.key}`}>
										Why
									</a>
								),
							},
						]),
			]}
		/>
	);
}
