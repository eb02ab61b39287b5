/**
 * Returns the syntax error in a JSON text, with the line if the browser reports it. Returns `null` if the JSON is
 * valid.
 */
export function jsonProblem(text: string): string | null {
	try {
		JSON.parse(text);
		return null;
	} catch (error) {
		const message = error instanceof Error ? error.message : 'This is not valid JSON.';
		const position = /position (\d+)/.exec(message)?.[1];
		if (position === undefined || message.includes('line')) return message;
		const line = text.slice(0, Number(position)).split('\n').length;
		return `${message} (line ${line})`;
	}
}
