import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Button } from '../../part/button.js';
import { setter } from '../../part/setter.js';

interface DialogButtonProps {
	readonly text: string;
	readonly children: (close: () => void) => ComponentChildren;
}

/** Button that opens a dialog. */
export function DialogButton({ text, children }: DialogButtonProps) {
	const isOpen = useSignal(false);
	const setOpen = setter(isOpen);
	return (
		<>
			<Button onClick={() => setOpen(true)}>{text}</Button>
			{isOpen.value && children(() => setOpen(false))}
		</>
	);
}
