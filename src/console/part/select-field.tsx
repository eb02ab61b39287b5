import type { SelectHTMLAttributes } from 'preact';

interface SelectFieldProps<Value extends string>
	extends Omit<SelectHTMLAttributes, 'label' | 'value' | 'onChange' | 'role' | 'size' | 'multiple'> {
	readonly label: string;
	readonly value: string;
	/** Values with their texts. In a list, a value without a text is its own text. */
	readonly options: Readonly<Record<Value, string>> | readonly (Value | readonly [value: Value, text: string])[];
	/** Text of the empty value, which comes first. Without it, there is no empty value. */
	readonly empty?: string | undefined;
	readonly onValue: (value: Value) => void;
	/** True if the label is beside the field. */
	readonly inline?: boolean;
}

/** Selection with a label. The other props are attributes of the select element. */
export function SelectField<Value extends string>(props: SelectFieldProps<Value>) {
	const { label, options, empty, onValue, inline = false, ...select } = props;
	const pairs = Array.isArray(options)
		? options.map((one) => (typeof one === 'string' ? [one, one] : one))
		: Object.entries(options);
	return (
		<label class={inline ? 'inline' : undefined}>
			<span>{label}</span>
			{/* Every value comes from `options`. */}
			<select {...select} onChange={(event) => onValue(event.currentTarget.value as Value)}>
				{empty !== undefined && <option value="">{empty}</option>}
				{pairs.map(([value, text]) => (
					<option key={value} value={value}>
						{text}
					</option>
				))}
			</select>
		</label>
	);
}
