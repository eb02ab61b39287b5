/**
 * Writes a string as a single-line literal, valid in Rego, YAML and JSON. User text enters a policy only through this
 * function, except keys that are identifiers (`packagePart`) and durations, which are validated before.
 *
 * INVARIANT: no text can end the literal or the line. Unprintable
 * characters are escaped, so people read the same text as the engine. Characters above U+FFFF are not escaped, because
 * YAML does not support JSON's escapes for them. A lone surrogate becomes U+FFFD.
 */
export function literal(text: string): string {
	if (plain.test(text)) return JSON.stringify(text);
	return JSON.stringify(text.replaceAll(loneSurrogate, '\ufffd')).replaceAll(unprintable, escapeCodePoint);
}

/** Strings without any character to replace, such as most keys. */
const plain = /^[ -~]*$/;

const loneSurrogate = /\p{Surrogate}/gu;

/** Control characters, format characters, private and unassigned code points, and every separator except the space. */
const unprintable = /(?! )[\p{C}\p{Z}]/gu;

function escapeCodePoint(character: string): string {
	const code = character.codePointAt(0) ?? 0;
	return code > 0xffff ? character : `\\u${code.toString(16).padStart(4, '0')}`;
}
