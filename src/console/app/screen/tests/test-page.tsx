import { readCheckForm } from '../../../model/check/check-form.js';
import { type CheckTestForm, checkTestForm, emptyCheckTest, readExpected } from '../../../model/check/check-test.js';
import { subjectName } from '../../../model/matrix/schema-objects.js';
import { ObjectPage } from '../../part/object-page.js';
import { type ReadSchema, readSchema } from '../../read-schema.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { TestEditor } from './test-editor.js';

const kind = 'check_test';

/** Page of a test. If the key is `null`, the page creates a test with the check in the address. */
export function TestPage({ testKey }: { readonly testKey: string | null }) {
	const loaded = useLoaded(readSchema, []);
	const search = useSearch();
	return (
		<ObjectPage
			kind={kind}
			noun="test"
			objectKey={testKey}
			list="tests"
			loaded={loaded}
			readStored={readStored}
			readDrafted={checkTestForm}
		>
			{({ schema, stored, current }) => (
				<TestEditor
					testKey={testKey}
					stored={stored}
					base={current ?? newTest(search.get)}
					revision={schema.revision}
					reload={loaded.reload}
				/>
			)}
		</ObjectPage>
	);
}

function readStored({ objects }: ReadSchema, key: string): CheckTestForm | null {
	const found = objects.get(subjectName({ kind, key, value: undefined }));
	return found === undefined ? null : checkTestForm(found.value);
}

function newTest(get: (parameter: string) => string): CheckTestForm {
	const check = { ...readCheckForm(get), revision: '', token: '', at: '' };
	return { ...emptyCheckTest, check, expected: readExpected(get('expected')) };
}
