import { visibleText } from '../../model/visible-text.js';

/** Name, e-mail address or description chosen by a user. Like `KeyText`, but in the font of ordinary text. */
export function NameText({ text }: { readonly text: string }) {
	return <bdi class="name-text">{visibleText(text)}</bdi>;
}
