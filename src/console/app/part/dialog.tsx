import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
	readonly title: string;
	readonly onClose: () => void;
	readonly children: ComponentChildren;
	readonly wide?: boolean;
}

/** Modal dialog, open while it is rendered. Escape closes it. */
export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
	const id = useId();
	const element = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		const shown = element.current;
		shown?.showModal();
		return () => shown?.close();
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
				<button type="button" class="end" onClick={onClose}>
					Close
				</button>
			</header>
			{children}
		</dialog>
	);
}
