/**
 * JSON in the form that OPA hashes for bundle signatures: without white space, with fields sorted by code point, and
 * with strings as Go writes them. Our data documents already have this form, except for a few characters.
 */

import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Line and paragraph separators: Go escapes them, JavaScript does not. */
const separators = /[\u2028\u2029]/g;
/** Surrogates without a partner, which Go reads as U+FFFD. */
const loneSurrogates = /\p{Surrogate}/gu;
/** First UTF-8 bytes for U+E000 to U+FFFF, and for all later characters. */
const [lateInPlane, beyondPlane] = [
	[0xee, 0xef],
	[0xf0, 0xf1, 0xf2, 0xf3, 0xf4],
];

const backslash = 0x5c;

/** True if OPA hashes a bundle file's JSON value instead of its bytes. */
export function isHashedAsJson(path: string): boolean {
	return ['data.json', '.manifest'].includes(basename(path));
}

/** Maximum size in bytes of JSON that is converted in this thread. 10 MB may take seconds. */
const maxAtOnce = 256 * 1024;

/**
 * Converts JSON of any size to canonical form without blocking this thread. Rejects with `SyntaxError` for invalid
 * JSON.
 */
export async function inCanonicalForm(bytes: Uint8Array): Promise<Uint8Array> {
	if (bytes.length <= maxAtOnce) return canonicalJson(bytes);
	const worker = new Worker(new URL('./canonical-worker.js', import.meta.url), { workerData: bytes, execArgv: [] });
	try {
		return await new Promise((resolve, reject) => {
			worker.once('message', resolve).once('error', reject);
			worker.once('exit', () => reject(new Error('the thread that writes canonical JSON has ended')));
		});
	} finally {
		await worker.terminate();
	}
}

/** Converts JSON to canonical form. Throws `SyntaxError` for invalid JSON. */
export function canonicalJson(bytes: Uint8Array): Uint8Array {
	const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
	return Buffer.from(canonicalText(value));
}

/**
 * True if a data document from the compiler is already canonical, as nearly all are: it contains none of the characters
 * for which the two forms may differ. Takes a few milliseconds for 100 MB.
 */
export function isCanonicalDocument(document: Uint8Array): boolean {
	const bytes = Buffer.from(document.buffer, document.byteOffset, document.length);
	if (['\u2028', '\u2029'].some((text) => bytes.includes(text)) || hasEscapedSurrogate(bytes)) return false;
	// Fields are out of order only if both kinds occur: UTF-16 sorts these two kinds in the reverse order.
	const has = (leads: readonly number[] | undefined) => leads?.some((lead) => bytes.includes(lead)) ?? false;
	return !(has(lateInPlane) && has(beyondPlane));
}

/**
 * True if the JSON contains an escaped surrogate, which can only be a lone surrogate. After an escaped backslash, the
 * same letters are plain text.
 */
function hasEscapedSurrogate(bytes: Buffer): boolean {
	for (let at = bytes.indexOf('\\ud'); at >= 0; at = bytes.indexOf('\\ud', at + 1)) {
		let before = at;
		while (bytes[before - 1] === backslash) before -= 1;
		if ((at - before) % 2 === 0) return true;
	}
	return false;
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
