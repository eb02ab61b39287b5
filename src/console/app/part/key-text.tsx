import { visibleText } from '../../model/visible-text.js';

/** Key, name or value chosen by a user. It is rendered as plain text and isolated from the text direction around it. */
export function KeyText({ text }: { readonly text: string }) {
	return <bdi class="key">{visibleText(text)}</bdi>;
}
