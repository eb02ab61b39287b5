import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from '../../part/button.js';

interface DialogProps {
	readonly title: string;
	readonly onClose: () => void;
	readonly children: ComponentChildren;
	readonly wide?: boolean;
}

/** Modal dialog, open while it is rendered. Escape closes it, and focus returns to the opener. */
export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
	const id = useId();
	const element = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		const opener = document.activeElement;
		element.current?.showModal();
		return () => {
			// A removed dialog does not return focus. Keep the focus if it has already moved elsewhere.
			if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus();
		};
	}, []);
	return (
		<dialog
			ref={element}
			class={wide ? 'wide' : ''}
			aria-labelledby={id}
			onCancel={(event) => {
				event.preventDefault();
				onClose();
			}}
		>
			<header class="line">
				<h2 id={id}>{title}</h2>
				<Button class="end" onClick={onClose}>
					Close
				</Button>
			</header>
			{children}
		</dialog>
	);
}
