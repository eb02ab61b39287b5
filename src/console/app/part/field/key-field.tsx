import { TextField } from '../../../part/text-field.js';

interface KeyFieldProps {
	readonly text: string;
	readonly onText: (text: string) => void;
}

/** Field for the key of a new object. */
export function KeyField({ text, onText }: KeyFieldProps) {
	return (
		<TextField
			label="Key"
			required
			maxLength={512}
			pattern="[A-Za-z0-9_\-]+"
			autocomplete="off"
			spellcheck={false}
			value={text}
			onValue={onText}
		/>
	);
}
