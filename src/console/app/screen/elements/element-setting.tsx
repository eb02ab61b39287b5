import {
	type ElementChoices,
	type ElementValue,
	type SettingField,
	settingChoices,
	withSetting,
} from '../../../model/element/element-value.js';
import { visibleText } from '../../../model/visible-text.js';
import { DurationField } from '../../../part/duration-field.js';
import { SelectField } from '../../../part/select-field.js';

interface ElementSettingProps {
	readonly field: SettingField;
	readonly value: ElementValue;
	readonly choices: ElementChoices;
	readonly onValue: (value: ElementValue) => void;
}

export function ElementSetting({ field, value, choices, onValue }: ElementSettingProps) {
	const { name, label, kind, byDefault = false } = field;
	const stored = value.settings[name];
	if (kind === 'flag') {
		return (
			<label class="inline">
				<input
					type="checkbox"
					checked={typeof stored === 'boolean' ? stored : byDefault}
					onChange={({ currentTarget: { checked } }) =>
						onValue(withSetting(value, name, checked === byDefault ? undefined : checked))
					}
				/>
				{label}
			</label>
		);
	}
	if (kind === 'duration') {
		return (
			<DurationField
				label={label}
				seconds={typeof stored === 'number' ? stored : null}
				onSeconds={(seconds) => onValue(withSetting(value, name, seconds ?? undefined))}
			/>
		);
	}
	const chosen = stored === undefined ? '' : String(stored);
	const known = settingChoices(field, value, choices);
	return (
		<SelectField
			label={label}
			value={chosen}
			empty="None"
			options={(chosen === '' || known.includes(chosen) ? known : [chosen, ...known]).map((one) => [
				one,
				visibleText(one),
			])}
			onValue={(next) => onValue(withSetting(value, name, next || undefined))}
		/>
	);
}
