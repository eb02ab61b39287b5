import type { InputHTMLAttributes } from 'preact';

interface TextFieldProps extends Omit<InputHTMLAttributes, 'label' | 'onInput' | 'role' | 'type'> {
	readonly label: string;
	readonly type?: 'text' | 'url' | 'password' | 'search';
	readonly onValue: (text: string) => void;
}

/** Text field with a label. The other props are attributes of the input element. */
export function TextField({ label, onValue, ...input }: TextFieldProps) {
	return (
		<label>
			<span>{label}</span>
			{/* Preact's types restrict the ARIA role by input type, but this field sets no role. */}
			<input type="text" {...(input as object)} onInput={(event) => onValue(event.currentTarget.value)} />
		</label>
	);
}
