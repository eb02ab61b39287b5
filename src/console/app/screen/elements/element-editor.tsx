import { useSignal } from '@preact/signals';
import { elementTypes } from '../../../model/element/element-types.js';
import {
	type ElementType,
	type ElementValue,
	elementChoices,
	otherSettings,
	readOtherSettings,
	settingFields,
	typePurposes,
	withType,
} from '../../../model/element/element-value.js';
import { isEqualJson } from '../../../model/equal-json.js';
import { SelectField } from '../../../part/select-field.js';
import { setter } from '../../../part/setter.js';
import { TextField } from '../../../part/text-field.js';
import { applyChange } from '../../apply-change.js';
import { JsonField } from '../../part/field/json-field.js';
import { KeyField } from '../../part/field/key-field.js';
import { SaveActions } from '../../part/save-actions.js';
import type { ReadSchema } from '../../read-schema.js';
import { mayWrite } from '../../session.js';
import { ElementLevels } from './element-levels.js';
import { ElementSetting } from './element-setting.js';

interface ElementEditorProps {
	/** Key of the element; `null` for a new element. */
	readonly elementKey: string | null;
	/** Stored element; `null` if the environment does not contain it. */
	readonly stored: ElementValue | null;
	/** Value with which the editor starts. */
	readonly base: ElementValue;
	readonly schema: ReadSchema;
	readonly reload: () => void;
}

const types = Object.keys(elementTypes) as readonly ElementType[];
const kind = 'elements_config';

/** Element editor: type, settings and levels. Users without write access see the values. */
export function ElementEditor({ elementKey, stored, base, schema, reload }: ElementEditorProps) {
	const typedKey = useSignal('');
	const edited = useSignal<ElementValue | null>(null);
	/** JSON text of the other settings while it is being edited. */
	const typedSettings = useSignal<string | null>(null);
	/** Revision at which editing began. The edited element does not include later changes. */
	const begun = useSignal(schema.revision);
	const value = edited.value ?? base;
	const key = elementKey ?? typedKey.value;
	const choices = elementChoices(schema.objects);
	const edit = (next: ElementValue) => {
		if (edited.value === null) begun.value = schema.revision;
		edited.value = next;
	};
	const fields = settingFields[value.elements_type];
	const revision = edited.value === null ? schema.revision : begun.value;
	const others = otherSettings(value);
	const othersText = typedSettings.value ?? (Object.keys(others).length === 0 ? '' : JSON.stringify(others, null, 2));
	const change = { kind, operation: stored === null ? 'create' : 'update', key, value } as const;
	return (
		<>
			<form aria-label="Element" onSubmit={(event) => event.preventDefault()}>
				<fieldset class="elements-fields" disabled={!mayWrite.value}>
					<div class="elements-columns">
						<SelectField
							label="Type"
							value={value.elements_type}
							disabled={stored !== null}
							options={types.map((type) => [type, elementTypes[type]])}
							onValue={(type) => {
								typedSettings.value = null;
								edit(withType(value, type));
							}}
						/>
						{elementKey === null && <KeyField text={key} onText={setter(typedKey)} />}
						<TextField label="Name" required value={value.name} onValue={(text) => edit({ ...value, name: text })} />
					</div>
					<p class="quiet">{typePurposes[value.elements_type]}</p>
					<h2>Settings</h2>
					<div class="elements-columns">
						{fields.map((field) => (
							<ElementSetting key={field.name} field={field} value={value} choices={choices} onValue={edit} />
						))}
						{value.elements_type === 'user_management' && (
							<label class="inline">
								<input
									type="checkbox"
									checked={value.email_notifications}
									onChange={(event) => edit({ ...value, email_notifications: event.currentTarget.checked })}
								/>
								Invite added users
							</label>
						)}
					</div>
					<details open={othersText !== ''}>
						<summary>Other settings</summary>
						<JsonField
							label="Other settings as JSON"
							text={othersText}
							problem={readOtherSettings(othersText) === null ? settingsProblem : null}
							onText={(text) => {
								typedSettings.value = text;
								const read = readOtherSettings(text);
								const known = Object.entries(value.settings).filter(([name]) => !Object.hasOwn(others, name));
								if (read !== null) edit({ ...value, settings: { ...read, ...Object.fromEntries(known) } });
							}}
						/>
					</details>
					<ElementLevels value={value} roles={choices.roles} onValue={edit} />
				</fieldset>
			</form>
			{mayWrite.value && (
				<SaveActions
					kind={kind}
					noun="element"
					objectKey={key}
					value={value}
					isStored={stored !== null}
					isChanged={stored === null || !isEqualJson(value, stored)}
					revision={revision}
					problem={elementProblem(key, value, othersText)}
					list="elements"
					page={`elements/${key}`}
					main="now"
					deletion={`Delete element ${key}? This takes effect immediately and cancels its pending requests.`}
					save={() => applyChange(revision, change)}
					remove={() => applyChange(revision, { kind, operation: 'delete', key })}
					onSaved={() => {
						edited.value = null;
						typedSettings.value = null;
						reload();
					}}
				>
					“Save now” takes effect immediately. Use “Add to draft” to publish the element together with other changes.
				</SaveActions>
			)}
		</>
	);
}

const settingsProblem = 'must be a JSON object with strings, whole numbers, true or false';

function elementProblem(key: string, { name }: ElementValue, othersText: string): string | null {
	if (key === '') return 'Enter a key.';
	if (name === '') return 'Enter a name.';
	return readOtherSettings(othersText) === null ? `Other settings: ${settingsProblem}` : null;
}
