import { readCheckForm } from '../../../model/check/check-form.js';
import { type CheckTestForm, checkTestForm, emptyCheckTest, readExpected } from '../../../model/check/check-test.js';
import { subjectName } from '../../../model/matrix/schema-objects.js';
import { currentDraft } from '../../current-draft.js';
import { Empty } from '../../part/empty.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Screen } from '../../part/screen.js';
import { readSchema } from '../../read-schema.js';
import { screenPath } from '../../screen-path.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { TestEditor } from './test-editor.js';

/** Page of a test. If the key is `null`, the page creates a test with the check in the address. */
export function TestPage({ testKey }: { readonly testKey: string | null }) {
	const loaded = useLoaded(readSchema, []);
	const search = useSearch();
	const drafted = currentDraft.value?.changes.find(({ kind, key }) => kind === 'check_test' && key === testKey);
	return (
		<Screen title={testKey === null ? 'New test' : `Test ${testKey}`}>
			<p>
				<a href={screenPath('tests')}>All tests</a>
			</p>
			<LoadedFrame loaded={loaded}>
				{({ objects, revision }) => {
					const found = objects.get(subjectName({ kind: 'check_test', key: testKey ?? '', value: undefined }));
					const stored = found === undefined ? null : checkTestForm(found.value);
					const inDraft = drafted?.value === undefined ? null : checkTestForm(drafted.value);
					if (testKey !== null && stored === null && inDraft === null) {
						return (
							<Empty title="Test not found">
								<p>It may have been deleted.</p>
							</Empty>
						);
					}
					return (
						<TestEditor
							testKey={testKey}
							stored={stored}
							base={inDraft ?? stored ?? newTest(search.get)}
							drafted={drafted?.operation ?? null}
							revision={revision}
							reload={loaded.reload}
						/>
					);
				}}
			</LoadedFrame>
		</Screen>
	);
}

function newTest(get: (parameter: string) => string): CheckTestForm {
	const check = { ...readCheckForm(get), revision: '', token: '', at: '' };
	return { ...emptyCheckTest, check, expected: readExpected(get('expected')) };
}
