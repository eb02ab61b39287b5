/** Characters that are not seen, or that change the order of others: controls, format characters, lone surrogates. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * A text that people chose, with each character that is not seen written out, as `\u{202e}`. So two keys that differ
 * never look alike for that reason, and none changes the order of the text around it.
 */
export function visibleText(text: string): string {
	return text.replace(unseen, escaped);
}

/** The same for a text of several lines: line feeds and tabs stay. */
export function visibleLines(text: string): string {
	return text.replace(unseen, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
}

function escaped(character: string): string {
	return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
