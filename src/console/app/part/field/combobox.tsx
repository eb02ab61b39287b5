import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { visibleText } from '../../../model/visible-text.js';
import { KeyText } from '../key-text.js';

export interface Choice {
	readonly value: string;
	/** Additional text for a suggestion, such as a name. */
	readonly note?: string | null | undefined;
}

export interface ComboboxProps {
	readonly label: string;
	readonly value: string;
	/** Called for every typed or chosen string. Any string may be valid, even without a suggestion. */
	readonly onValue: (text: string) => void;
	/** Returns suggestions from the server. If the request fails, there are no suggestions. */
	readonly propose: (text: string, signal: AbortSignal) => Promise<readonly Choice[]>;
	readonly placeholder?: string;
	readonly required?: boolean;
}

const quietMilliseconds = 150;

/** Text field with suggestions from the server (editable combobox in the ARIA Authoring Practices Guide). */
export function Combobox({ label, value, onValue, propose, placeholder = '', required = false }: ComboboxProps) {
	const id = useId();
	const [choices, setChoices] = useState<readonly Choice[]>([]);
	const [isOpen, setOpen] = useState(false);
	const [active, setActive] = useState(-1);
	const asked = useRef<AbortController | undefined>(undefined);
	const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
	const stopAsking = () => {
		clearTimeout(timer.current);
		asked.current?.abort();
	};
	const close = () => {
		stopAsking();
		setOpen(false);
		setActive(-1);
	};
	useEffect(() => close, []);
	const ask = (text: string, wait: number) => {
		stopAsking();
		const controller = new AbortController();
		asked.current = controller;
		timer.current = setTimeout(() => {
			propose(text, controller.signal).then(
				(found) => {
					if (controller.signal.aborted) return;
					setChoices(found);
					setActive(-1);
					setOpen(found.length > 0);
				},
				() => undefined,
			);
		}, wait);
	};
	const choose = (choice: Choice | undefined) => {
		if (choice !== undefined) onValue(choice.value);
		close();
	};
	const move = (step: number) => {
		if (!isOpen) return ask(value, 0);
		// Keep the suggestions while the user moves through them.
		stopAsking();
		// The field itself is an additional position.
		const places = choices.length + 1;
		setActive(((active + 1 + step + places) % places) - 1);
	};
	const onKeyDown = (event: KeyboardEvent) => {
		if (event.key === 'ArrowDown') move(1);
		else if (event.key === 'ArrowUp') move(-1);
		else if (event.key === 'Enter' && isOpen && active >= 0) choose(choices[active]);
		// Suggestions arriving after the form is sent would cover the result.
		else if (event.key === 'Enter') return close();
		else if (event.key === 'Escape' && isOpen) close();
		else return;
		event.preventDefault();
	};
	return (
		<div class="combobox">
			<label for={id}>{label}</label>
			<input
				id={id}
				type="text"
				role="combobox"
				aria-expanded={isOpen}
				aria-controls={`${id}-list`}
				aria-autocomplete="list"
				aria-activedescendant={active < 0 ? undefined : `${id}-${active}`}
				autocomplete="off"
				autocapitalize="off"
				spellcheck={false}
				required={required}
				placeholder={placeholder}
				value={value}
				onInput={(event) => {
					onValue(event.currentTarget.value);
					ask(event.currentTarget.value, quietMilliseconds);
				}}
				onClick={() => ask(value, 0)}
				onKeyDown={onKeyDown}
				onBlur={close}
			/>
			<div id={`${id}-list`} role="listbox" aria-label={label} hidden={!isOpen}>
				{choices.map((choice, index) => (
					<div
						key={choice.value}
						id={`${id}-${index}`}
						role="option"
						tabIndex={-1}
						aria-selected={index === active}
						// Handle this on mouse down: blur closes the list.
						onMouseDown={(event) => {
							event.preventDefault();
							choose(choice);
						}}
					>
						<KeyText text={choice.value} /> {choice.note ? <small>{visibleText(choice.note)}</small> : null}
					</div>
				))}
			</div>
		</div>
	);
}
