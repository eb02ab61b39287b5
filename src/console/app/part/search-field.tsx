import { useEffect, useRef, useState } from 'preact/hooks';

interface SearchFieldProps {
	readonly label: string;
	readonly value: string;
	readonly onSearch: (text: string) => void;
	readonly placeholder?: string;
}

/** How long nobody has to type before a search begins, in milliseconds. */
const quietMilliseconds = 200;

/** A field that searches at the server when nobody types for a moment. Typing never waits for an answer. */
export function SearchField({ label, value, onSearch, placeholder = '' }: SearchFieldProps) {
	const [text, setText] = useState(value);
	const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
	// The address may change without typing: by "back", for example. What was sent from here comes back as well, and must
	// not take away what was typed meanwhile.
	const sent = useRef(value);
	useEffect(() => {
		if (value !== sent.current) setText(value);
		sent.current = value;
	}, [value]);
	useEffect(() => () => clearTimeout(timer.current), []);
	const search = (next: string, wait: number) => {
		clearTimeout(timer.current);
		timer.current = setTimeout(() => {
			sent.current = next;
			onSearch(next);
		}, wait);
	};
	return (
		<label>
			<span>{label}</span>
			<input
				type="search"
				value={text}
				placeholder={placeholder}
				autocomplete="off"
				spellcheck={false}
				onInput={(event) => {
					setText(event.currentTarget.value);
					search(event.currentTarget.value, quietMilliseconds);
				}}
				onKeyDown={(event) => {
					if (event.key === 'Enter') search(text, 0);
				}}
			/>
		</label>
	);
}
