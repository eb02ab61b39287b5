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

/** Texts for each kind of grant. */
const texts = {
	role: {
		label: 'Assign under',
		always: 'The role applies in all checks.',
		conditional:
			'The role applies only while the condition holds. Assigning it again under the same condition replaces the values.',
	},
	relationship: {
		label: 'Relate under',
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
			<label>
				<span>{label}</span>
				<select
					value={set}
					aria-describedby={hint}
					onChange={(event) => {
						form.value = { set: event.currentTarget.value, texts: {} };
					}}
				>
					<option value="">No condition</option>
					{conditions.map(({ key, name }) => (
						<option key={key} value={key}>
							{visibleText(name === key ? key : `${key} (${name})`)}
						</option>
					))}
				</select>
			</label>
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
	if (type === 'bool') {
		return (
			<label>
				<span>{label}</span>
				<select value={text} onChange={(event) => onValue({ ...value, text: event.currentTarget.value })}>
					<option value="">Choose</option>
					<option value="true">yes</option>
					<option value="false">no</option>
				</select>
			</label>
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
						onInput={(event) => onValue({ ...value, text: event.currentTarget.value })}
					/>
				</label>
				<label>
					<span>Items in {label}</span>
					<select
						value={items}
						onChange={(event) =>
							onValue({ ...value, items: event.currentTarget.value === 'numbers' ? 'numbers' : 'texts' })
						}
					>
						<option value="texts">Text</option>
						<option value="numbers">Numbers</option>
					</select>
				</label>
			</>
		);
	}
	return (
		<label>
			<span>{label}</span>
			<input
				type="text"
				inputMode={type === 'number' ? 'decimal' : 'text'}
				autocomplete="off"
				spellcheck={false}
				value={text}
				onInput={(event) => onValue({ ...value, text: event.currentTarget.value })}
			/>
		</label>
	);
}
