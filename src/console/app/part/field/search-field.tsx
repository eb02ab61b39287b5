import { useEffect, useRef, useState } from 'preact/hooks';
import { TextField } from '../../../part/text-field.js';

interface SearchFieldProps {
	readonly label: string;
	readonly value: string;
	readonly onValue: (text: string) => void;
	readonly placeholder?: string;
}

/** Pause in typing before a search begins, in milliseconds. */
const quietMilliseconds = 200;

/** Field that searches on the server after a pause in typing. Typing never waits for a response. */
export function SearchField({ label, value, onValue, placeholder = '' }: SearchFieldProps) {
	const [text, setText] = useState(value);
	const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
	// The URL may change without typing, for example by "back". A search sent from this field also changes the
	// URL, and this change must not overwrite newer typing.
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
			onValue(next);
		}, wait);
	};
	return (
		<TextField
			label={label}
			type="search"
			value={text}
			placeholder={placeholder}
			autocomplete="off"
			spellcheck={false}
			onKeyDown={(event) => {
				if (event.key === 'Enter') search(text, 0);
			}}
			onValue={(next) => {
				setText(next);
				search(next, quietMilliseconds);
			}}
		/>
	);
}
