import { Section } from '../../../part/section.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { screenPath } from '../../screen-path.js';
import type { Loaded } from '../../use-loaded.js';
import type { TestRun } from '../tests/run-tests.js';
import { TestSummary, TestTable } from '../tests/test-results.js';

interface DraftTestsProps {
	/** The test run, which starts after the preview. */
	readonly loaded: Loaded<TestRun | null>;
}

/** Test results with the draft. */
export function DraftTests({ loaded }: DraftTestsProps) {
	return (
		<Section id="draft-tests" title="Tests">
			{loaded.loading || (loaded.value === null && loaded.failure === null) ? (
				<p class="quiet">Running the tests…</p>
			) : (
				<LoadedFrame loaded={loaded}>
					{(results) =>
						results === null ? null : results.tests.length === 0 ? (
							<p class="quiet">
								No tests yet. <a href={screenPath('tests')}>Add tests</a> to be warned about unintended changes.
							</p>
						) : (
							<>
								<TestSummary results={results}>
									. <a href={screenPath('tests', { run: 'draft' })}>View all tests and the coverage</a>
								</TestSummary>
								{results.failed > 0 && <TestTable tests={results.tests.filter(({ passed }) => !passed)} isDraft />}
							</>
						)
					}
				</LoadedFrame>
			)}
		</Section>
	);
}
