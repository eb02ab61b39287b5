import type { InputHTMLAttributes } from 'preact';

interface TextFieldProps extends Omit<InputHTMLAttributes, 'label' | 'onInput' | 'role' | 'type'> {
	readonly label: string;
	readonly type?: 'text' | 'url' | 'password' | 'search';
	readonly onText: (text: string) => void;
}

/** Text field with a label. The other props are attributes of the input element. */
export function TextField({ label, onText, ...input }: TextFieldProps) {
	return (
		<label>
			<span>{label}</span>
			{/* Preact's types list the allowed roles of each type, and this field sets no role. */}
			<input type="text" {...(input as object)} onInput={(event) => onText(event.currentTarget.value)} />
		</label>
	);
}
