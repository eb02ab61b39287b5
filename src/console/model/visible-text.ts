/** Characters that are invisible or reorder text: controls, format characters, line separators, lone surrogates. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Escapes each invisible character in a text chosen by a user, for example as `\u{202e}`. Different keys then look
 * different, and no key can reorder the text around it.
 */
export function visibleText(text: string): string {
	return text.replace(unseen, escaped);
}

/** Escapes like `visibleText`, but keeps line feeds and tabs. */
export function visibleLines(text: string): string {
	return text.replace(unseen, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
}

function escaped(character: string): string {
	return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
