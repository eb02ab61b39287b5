import type { ComponentChildren } from 'preact';
import { announce } from '../../part/announce.js';
import { Button } from '../../part/button.js';

export function CopyButton({ text, children }: { readonly text: string; readonly children: ComponentChildren }) {
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(text);
			announce('Copied.');
		} catch {
			announce('The browser blocked copying. Select the text and copy it.');
		}
	};
	return <Button onClick={() => void copy()}>{children}</Button>;
}
