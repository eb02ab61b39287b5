import { jsonByte } from './json-bytes.js';

const { backslash } = jsonByte;

/**
 * Returns JSON for an OPA module. Modules reject lone surrogates, so lone surrogates become the replacement character,
 * as in UTF-8.
 */
export function jsonText(value: unknown): string {
	const json = JSON.stringify(value);
	return json.includes('\\ud')
		? json.replace(/\\(?:\\|ud[89a-f]..)/g, (part) => (part === '\\\\' ? part : '\\ufffd'))
		: json;
}

/** True if the JSON may contain lone surrogates, which can only be expressed by escapes. */
export function mayHoldLoneSurrogates(json: Uint8Array): boolean {
	for (let at = json.indexOf(backslash); at !== -1; at = json.indexOf(backslash, at + 1)) {
		if (json[at + 1] === 0x75 && ((json[at + 2] ?? 0) | 0x20) === 0x64) return true;
	}
	return false;
}
