/** JSON for an OPA module, which refuses lone surrogates: they become the replacement character, as in UTF-8. */
export function jsonText(value: unknown): string {
	const json = JSON.stringify(value);
	return json.includes('\\ud')
		? json.replace(/\\(?:\\|ud[89a-f]..)/g, (part) => (part === '\\\\' ? part : '\\ufffd'))
		: json;
}

/** Whether JSON may hold lone surrogates, which only escapes can express. */
export function mayHoldLoneSurrogates(json: string | Buffer): boolean {
	return json.includes('\\ud') || json.includes('\\uD');
}
