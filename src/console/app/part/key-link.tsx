import { KeyText } from './key-text.js';

/** Link whose text is a key. */
export function KeyLink({ href, text }: { readonly href: string; readonly text: string }) {
	return (
		<a href={href}>
			<KeyText text={text} />
		</a>
	);
}
