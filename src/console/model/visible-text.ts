/** Characters that are not seen, or that change the order of others: controls, format characters, lone surrogates. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * A text that people chose, with each character that is not seen written out, as `\u{202e}`. So two keys that differ
 * never look alike for that reason, and none changes the order of the text around it.
 */
export function visibleText(text: string): string {
	return text.replace(unseen, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
