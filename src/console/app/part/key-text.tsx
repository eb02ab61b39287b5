import { visibleText } from '../../model/visible-text.js';

/** A key, name or value that people chose: never more than text, and on its own in the order of characters. */
export function KeyText({ text }: { readonly text: string }) {
	return <bdi class="key">{visibleText(text)}</bdi>;
}
