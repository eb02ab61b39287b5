import { useSignal } from '@preact/signals';
import { useRoute } from 'preact-iso';
import { program } from '../../../model/program.js';
import { Button } from '../../../part/button.js';
import { currentDraft } from '../../current-draft.js';
import { ButtonLink } from '../../part/button-link.js';
import { DraftedObjects } from '../../part/drafted-objects.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Screen } from '../../part/screen.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { runTests } from './run-tests.js';
import { TestList } from './test-list.js';
import { TestPage } from './test-page.js';
import { TestResults } from './test-results.js';

/** The tests screen. The rest of the path names a test, and `new` in the query creates a test. */
export function TestsScreen() {
	const key = useRoute().params['rest'] ?? '';
	const isNew = useSearch().get('new') !== '';
	if (key !== '') return <TestPage key={key} testKey={key} />;
	return isNew ? <TestPage key="" testKey={null} /> : <AllTests />;
}

/** Policies to test, with the button labels. */
const runs = [
	['published', 'Run tests'],
	['draft', 'Run tests with draft'],
] as const;

function AllTests() {
	const search = useSearch();
	const draft = currentDraft.value;
	const run = search.get('run');
	const asked = useSignal(0);
	const isDraft = run === 'draft' && draft !== null;
	const loaded = useLoaded(
		async (signal) => (run === '' ? null : runTests(isDraft ? draft : null, signal)),
		[run, isDraft && JSON.stringify(draft), asked.value],
	);
	return (
		<Screen
			title="Tests"
			about={
				<>
					Checks with their expected results. Run the tests before you publish a change, here or in a pipeline with{' '}
					<code>{program} test</code>.
				</>
			}
			actions={mayWrite.value && <ButtonLink href={screenPath('tests', { new: 'yes' })}>New test</ButtonLink>}
		>
			<div class="line tests-runs">
				{runs.map(
					([name, text]) =>
						(name === 'published' || draft !== null) && (
							<Button
								key={name}
								class={name === 'published' ? 'primary' : ''}
								aria-disabled={run !== '' && loaded.loading}
								onClick={() => {
									asked.value += 1;
									search.set({ run: name });
								}}
							>
								{text}
							</Button>
						),
				)}
				{run !== '' && <Button onClick={() => search.set({ run: '' })}>Clear results</Button>}
			</div>
			<DraftedObjects kind="check_test" screen="tests" />
			{run === '' ? (
				<TestList />
			) : (
				<LoadedFrame loaded={loaded}>
					{(results) => results !== null && <TestResults results={results} isDraft={isDraft} />}
				</LoadedFrame>
			)}
		</Screen>
	);
}
