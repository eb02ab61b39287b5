/**
 * A string as Rego, YAML and JSON all read it, on one line: how every key and name of a user enters a policy.
 *
 * INVARIANT: no other function puts a user's text into Rego, and none of it can end the literal or the line.
 * What cannot be printed is escaped (so that nobody reads other text than the engine), above U+FFFF excepted, where
 * YAML does not read JSON's pairs of escapes. Half a surrogate pair is no character and becomes U+FFFD.
 */
export function literal(text: string): string {
	if (plain.test(text)) return JSON.stringify(text);
	return JSON.stringify(text.replaceAll(loneSurrogate, '\ufffd')).replaceAll(unprintable, escapeCodePoint);
}

/** Most keys are: in them there is nothing to replace. */
const plain = /^[ -~]*$/;

const loneSurrogate = /\p{Surrogate}/gu;

/** Controls, format marks, private and unassigned code points, and every separator that is not a space. */
const unprintable = /(?! )[\p{C}\p{Z}]/gu;

function escapeCodePoint(character: string): string {
	const code = character.codePointAt(0) ?? 0;
	return code > 0xffff ? character : `\\u${code.toString(16).padStart(4, '0')}`;
}
