import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { documentationPath } from '../../../model/documentation-path.js';
import {
	type ConditionForm,
	type GrantSet,
	type ParameterType,
	type ValueText,
	valueTextIn,
} from '../../../model/grant-condition.js';
import { visibleText } from '../../../model/visible-text.js';
import { SelectField } from '../../../part/select-field.js';
import { TextField } from '../../../part/text-field.js';

/** Texts for each kind of grant. */
const texts = {
	role: {
		label: 'Assign under',
		always: 'The role applies in all checks.',
		conditional:
			'The role applies only while the condition holds. Assigning it again under the same condition replaces the values.',
	},
	relationship: {
		label: 'Add under',
		always: 'The relationship applies in all checks.',
		conditional:
			'The relationship applies only while the condition holds. Adding it again under the same condition replaces the ' +
			'values.',
	},
} as const;

interface ConditionFieldsProps {
	readonly grant: keyof typeof texts;
	/** Condition sets that the role or relation declares. */
	readonly conditions: readonly GrantSet[];
	readonly form: Signal<ConditionForm>;
}

/** Fields for the condition of a role assignment or a relationship, and for its values. */
export function ConditionFields({ grant, conditions, form }: ConditionFieldsProps) {
	const hint = useId();
	const { set, texts: values } = form.value;
	const { label, always, conditional } = texts[grant];
	const chosen = conditions.find(({ key }) => key === set);
	return (
		<fieldset class="directory-condition whole">
			<legend>Condition</legend>
			<SelectField
				label={label}
				value={set}
				aria-describedby={hint}
				empty="No condition"
				options={conditions.map(
					({ key, name }) => [key, visibleText(name === key ? key : `${key} (${name})`)] as const,
				)}
				onValue={(next) => {
					form.value = { set: next, texts: {} };
				}}
			/>
			{Object.entries(chosen?.parameters ?? {}).map(([name, { type }]) => (
				<ValueField
					key={name}
					name={name}
					type={type}
					value={valueTextIn(values, name)}
					onValue={(value) => {
						form.value = { set, texts: { ...values, [name]: value } };
					}}
				/>
			))}
			<small id={hint} class="quiet whole">
				{set === '' ? always : conditional}{' '}
				<a href={documentationPath('policy/grant-conditions')}>Conditional grants</a>
			</small>
		</fieldset>
	);
}

interface ValueFieldProps {
	readonly name: string;
	readonly type: ParameterType;
	readonly value: ValueText;
	readonly onValue: (value: ValueText) => void;
}

/** Field for a parameter's value. */
function ValueField({ name, type, value, onValue }: ValueFieldProps) {
	const { text, items } = value;
	const label = visibleText(name);
	const onText = (next: string) => onValue({ ...value, text: next });
	if (type === 'bool') {
		return (
			<SelectField label={label} value={text} empty="Choose" options={{ true: 'yes', false: 'no' }} onValue={onText} />
		);
	}
	if (type === 'array') {
		return (
			<>
				<label>
					<span>{label}, one per line</span>
					<textarea
						rows={Math.min(8, Math.max(2, text.split('\n').length))}
						spellcheck={false}
						value={text}
						onInput={(event) => onText(event.currentTarget.value)}
					/>
				</label>
				<SelectField
					label={`Items in ${label}`}
					value={items}
					options={{ texts: 'Text', numbers: 'Numbers' }}
					onValue={(next) => onValue({ ...value, items: next })}
				/>
			</>
		);
	}
	return (
		<TextField
			label={label}
			inputMode={type === 'number' ? 'decimal' : 'text'}
			autocomplete="off"
			spellcheck={false}
			value={text}
			onValue={onText}
		/>
	);
}
