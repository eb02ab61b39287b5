import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type CheckForm, checkQuery, formProblem } from '../../../model/check/check-form.js';
import {
	type CheckTestForm,
	type CheckTestValue,
	checkTestValue,
	readExpected,
	suggestedTestKey,
} from '../../../model/check/check-test.js';
import { isEqualJson } from '../../../model/equal-json.js';
import { SelectField } from '../../../part/select-field.js';
import { setter } from '../../../part/setter.js';
import { TextField } from '../../../part/text-field.js';
import { management } from '../../api.js';
import { CheckInputs } from '../../part/field/check-inputs.js';
import { ContextualFields } from '../../part/field/contextual-fields.js';
import { KeyField } from '../../part/field/key-field.js';
import { SaveActions } from '../../part/save-actions.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import { useSearch } from '../../use-search.js';
import { useSettled } from '../../use-settled.js';
import { expectedWords } from './test-texts.js';

interface TestEditorProps {
	/** Key of the test; `null` for a new test. */
	readonly testKey: string | null;
	/** Stored test; `null` if the environment does not contain it. */
	readonly stored: CheckTestForm | null;
	/** Value with which the editor starts. */
	readonly base: CheckTestForm;
	/** Revision of the stored test. */
	readonly revision: number;
	readonly reload: () => void;
}

/** Test editor. The URL of a new test contains its check. */
export function TestEditor({ testKey, stored, base, revision, reload }: TestEditorProps) {
	const search = useSearch();
	const typedKey = useSignal<string | null>(null);
	const edited = useSignal<CheckTestForm | null>(null);
	/** Revision at which editing began. The edited test does not include later changes. */
	const begun = useSignal(revision);
	const form = edited.value ?? base;
	const { check, expected, description } = form;
	const key = testKey ?? typedKey.value ?? suggestedTestKey(check);
	const edit = (change: Partial<CheckTestForm>) => {
		if (edited.value === null) begun.value = revision;
		edited.value = { ...form, ...change };
	};
	const address = useSettled(JSON.stringify({ ...checkQuery(check), expected }));
	useEffect(() => {
		if (testKey === null && edited.value !== null) search.set(JSON.parse(address), { replace: true });
	}, [address]);
	const value = checkTestValue(form);
	return (
		<>
			<form class="columns" aria-label="Test" onSubmit={(event) => event.preventDefault()}>
				<CheckInputs
					form={check}
					onField={(name: keyof CheckForm, text) => edit({ check: { ...check, [name]: text } })}
				>
					<SelectField
						label="Expected result"
						value={expected}
						options={(['allow', 'deny'] as const).map((one) => [one, expectedWords[one]])}
						onValue={(value) => edit({ expected: readExpected(value) })}
					/>
				</CheckInputs>
				<ContextualFields
					isTested
					text={check.contextualFacts}
					onText={(contextualFacts) => edit({ check: { ...check, contextualFacts } })}
				/>
				{testKey === null && <KeyField text={key} onText={setter(typedKey)} />}
				<TextField label="Description (optional)" value={description} onValue={(text) => edit({ description: text })} />
			</form>
			<p>
				<a href={screenPath('check', checkQuery(check))}>Run this check</a>
			</p>
			{mayWrite.value && (
				<SaveActions
					kind="check_test"
					noun="test"
					objectKey={key}
					value={value}
					isStored={stored !== null}
					isChanged={stored === null || !isEqualJson(value, checkTestValue(stored))}
					revision={edited.value === null ? revision : begun.value}
					problem={testProblem(key, form)}
					list="tests"
					page="tests"
					main="now"
					deletion={`Delete test ${key}? This takes effect immediately. Access does not change.`}
					save={() => saveTest(key, stored !== null, value)}
					remove={() => removeTest(key)}
					onSaved={() => {
						edited.value = null;
						reload();
					}}
				>
					Tests do not affect access, so “Save now” is safe. Use “Add to draft” to publish the test together with the
					changes it covers.
				</SaveActions>
			)}
		</>
	);
}

function testProblem(key: string, form: CheckTestForm): string | null {
	const problem = formProblem(form.check);
	if (problem !== null) return problem;
	if (checkTestValue(form) === null) return 'Enter a user, an action and a resource.';
	return key === '' ? 'Enter a key.' : null;
}

async function saveTest(key: string, isStored: boolean, value: CheckTestValue | null): Promise<void> {
	if (value === null) return;
	const { check, expected, description = null } = value;
	await (isStored
		? management.patch('/v2/schema/{proj_id}/{env_id}/check_tests/{check_test_id}', {
				path: { check_test_id: key },
				body: { check, expected, description },
			})
		: management.post('/v2/schema/{proj_id}/{env_id}/check_tests', {
				body: { key, check, expected, description },
			}));
}

async function removeTest(key: string): Promise<void> {
	await management.delete('/v2/schema/{proj_id}/{env_id}/check_tests/{check_test_id}', {
		path: { check_test_id: key },
	});
}
