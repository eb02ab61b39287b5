import type { InputHTMLAttributes } from 'preact';

interface CheckFieldProps extends Omit<InputHTMLAttributes, 'checked' | 'onChange' | 'role' | 'type'> {
	readonly checked: boolean;
	readonly onChecked: (checked: boolean) => void;
}

/** Checkbox. The children are its label, and the other props are attributes of the input element. */
export function CheckField({ onChecked, children, ...input }: CheckFieldProps) {
	return (
		<label class="inline">
			<input type="checkbox" {...input} onChange={(event) => onChecked(event.currentTarget.checked)} />
			<span>{children}</span>
		</label>
	);
}
