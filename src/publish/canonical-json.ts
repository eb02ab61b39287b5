/**
 * JSON as OPA hashes it for the signature of a bundle: without white space, members in order of their keys by code point,
 * strings as Go writes them. Our data documents are written so already, but for a few characters.
 */

import { basename } from 'node:path';

/** Line and paragraph separators: Go escapes them, JavaScript does not. */
const separators = /[\u2028\u2029]/g;
/** Go reads these as U+FFFD. */
const loneSurrogates = /\p{Surrogate}/gu;
/** UTF-8 of characters from U+E000 to U+FFFF begins with one of these bytes, and that of all later ones with one of those. */
const [lateInPlane, beyondPlane] = [
	[0xee, 0xef],
	[0xf0, 0xf1, 0xf2, 0xf3, 0xf4],
];

/** Whether OPA hashes what a file of a bundle says, rather than its bytes. */
export function isHashedAsJson(path: string): boolean {
	return ['data.json', '.manifest'].includes(basename(path));
}

/** The same JSON in canonical form. Throws `SyntaxError` for what is not JSON. */
export function canonicalJson(bytes: Uint8Array): Uint8Array {
	const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
	return Buffer.from(canonicalText(value));
}

/**
 * Whether a data document of the compiler is canonical as it is, which nearly all are: it has none of the characters
 * where the two forms may differ. Takes some milliseconds for 100 MB.
 */
export function isCanonicalDocument(document: Uint8Array): boolean {
	const bytes = Buffer.from(document.buffer, document.byteOffset, document.length);
	if (['\u2028', '\u2029', '\\ud'].some((text) => bytes.includes(text))) return false;
	// UTF-16 sorts these two kinds of characters the other way around.
	const has = (leads: readonly number[] | undefined) => leads?.some((lead) => bytes.includes(lead)) ?? false;
	return !(has(lateInPlane) && has(beyondPlane));
}

function canonicalText(value: unknown): string {
	if (typeof value === 'string') return text(value);
	if (value === null || typeof value !== 'object') return JSON.stringify(value);
	if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
	const members = Object.entries(value)
		.sort(([left], [right]) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
		.map(([key, member]) => `${text(key)}:${canonicalText(member)}`);
	return `{${members.join(',')}}`;
}

function text(value: string): string {
	const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16)}`;
	return JSON.stringify(value.replace(loneSurrogates, '\ufffd')).replace(separators, escaped);
}
