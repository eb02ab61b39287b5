import type { ComponentChildren } from 'preact';
import { announce } from '../../part/announce.js';

export function CopyButton({ text, children }: { readonly text: string; readonly children: ComponentChildren }) {
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(text);
			announce('Copied.');
		} catch {
			announce('The browser blocked copying. Select the text and copy it.');
		}
	};
	return (
		<button type="button" onClick={() => void copy()}>
			{children}
		</button>
	);
}
