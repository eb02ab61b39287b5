/**
 * A string as Rego, YAML and JSON all read it, on one line: how every key and name of a user enters a policy.
 *
 * INVARIANT: no other function puts a user's text into Rego, and none of it can end the literal or the line.
 * Unprintable characters are escaped, so that people read the same text as the engine, except above U+FFFF, where YAML
 * does not read JSON's escapes. A lone surrogate becomes U+FFFD.
 */
export function literal(text: string): string {
	if (plain.test(text)) return JSON.stringify(text);
	return JSON.stringify(text.replaceAll(loneSurrogate, '\ufffd')).replaceAll(unprintable, escapeCodePoint);
}

/** Nothing needs to be replaced in these texts, as in most keys. */
const plain = /^[ -~]*$/;

const loneSurrogate = /\p{Surrogate}/gu;

/** Controls, format marks, private and unassigned code points, and every separator that is not a space. */
const unprintable = /(?! )[\p{C}\p{Z}]/gu;

function escapeCodePoint(character: string): string {
	const code = character.codePointAt(0) ?? 0;
	return code > 0xffff ? character : `\\u${code.toString(16).padStart(4, '0')}`;
}
