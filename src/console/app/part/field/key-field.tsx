import { TextField } from '../../../part/text-field.js';

/** Field for the key of a new object. */
export function KeyField({ text, onText }: { readonly text: string; readonly onText: (text: string) => void }) {
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
