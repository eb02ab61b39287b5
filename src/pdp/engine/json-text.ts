/** JSON for an OPA module, which refuses halves of characters: they become the replacement character, as in UTF-8. */
export function jsonText(value: unknown): string {
	const json = JSON.stringify(value);
	return json.includes('\\ud')
		? json.replace(/\\(?:\\|ud[89a-f]..)/g, (part) => (part === '\\\\' ? part : '\\ufffd'))
		: json;
}

/** Whether JSON may hold halves of characters, which only escapes can say. */
export function mayHoldHalves(json: string | Buffer): boolean {
	return json.includes('\\ud') || json.includes('\\uD');
}
