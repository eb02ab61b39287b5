interface KeyFieldProps {
	readonly text: string;
	readonly onText: (text: string) => void;
}

/** Field for the key of a new object. */
export function KeyField({ text, onText }: KeyFieldProps) {
	return (
		<label>
			<span>Key</span>
			<input
				type="text"
				required
				maxLength={512}
				pattern="[A-Za-z0-9_\-]+"
				autocomplete="off"
				spellcheck={false}
				value={text}
				onInput={(event) => onText(event.currentTarget.value)}
			/>
		</label>
	);
}
