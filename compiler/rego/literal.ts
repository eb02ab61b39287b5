/**
 * Writes a string as a single-line literal for Rego, YAML and JSON: the only way for user keys and names into a policy.
 *
 * INVARIANT: no other function puts user text into Rego, and no text can end the literal or the line. Unprintable
 * characters are escaped, so that people read the same text as the engine, except above U+FFFF, where YAML does not
 * read JSON's escapes. A lone surrogate becomes U+FFFD.
 */
export function literal(text: string): string {
	if (plain.test(text)) return JSON.stringify(text);
	return JSON.stringify(text.replaceAll(loneSurrogate, '\ufffd')).replaceAll(unprintable, escapeCodePoint);
}

/** Texts without any character to replace, such as most keys. */
const plain = /^[ -~]*$/;

const loneSurrogate = /\p{Surrogate}/gu;

/** Controls, format marks, private and unassigned code points, and every separator except the space. */
const unprintable = /(?! )[\p{C}\p{Z}]/gu;

function escapeCodePoint(character: string): string {
	const code = character.codePointAt(0) ?? 0;
	return code > 0xffff ? character : `\\u${code.toString(16).padStart(4, '0')}`;
}
