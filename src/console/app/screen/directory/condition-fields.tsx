import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { documentationPath } from '../../../model/documentation-path.js';
import {
	type AssignableRole,
	type ParameterType,
	type ValueText,
	valueTextIn,
} from '../../../model/grant-condition.js';
import { visibleText } from '../../../model/visible-text.js';

/** Condition in the form: a set, or no set, and the texts of its value fields. */
export interface ConditionForm {
	readonly set: string;
	readonly texts: Readonly<Record<string, ValueText>>;
}

export const noCondition: ConditionForm = { set: '', texts: {} };

interface ConditionFieldsProps {
	readonly role: AssignableRole;
	readonly form: Signal<ConditionForm>;
}

/** Fields for the condition under which a role is assigned, and for its values. */
export function ConditionFields({ role: { conditions }, form }: ConditionFieldsProps) {
	const hint = useId();
	const { set, texts } = form.value;
	const chosen = conditions.find(({ key }) => key === set);
	return (
		<fieldset class="directory-condition whole">
			<legend>Condition</legend>
			<label>
				<span>Assign under</span>
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
					value={valueTextIn(texts, name)}
					onValue={(value) => {
						form.value = { set, texts: { ...texts, [name]: value } };
					}}
				/>
			))}
			<small id={hint} class="quiet whole">
				{set === ''
					? 'The role applies in all checks.'
					: 'The role applies only while the condition holds. Assigning it again under the same condition replaces the values.'}{' '}
				<a href={documentationPath('policy/grant-conditions')}>Conditional role assignments</a>
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
