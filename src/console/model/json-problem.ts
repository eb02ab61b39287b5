/** Returns the JSON syntax error, with the line if the browser reports it; `null` for valid JSON. */
export function jsonProblem(text: string): string | null {
	try {
		JSON.parse(text);
		return null;
	} catch (error) {
		const message = error instanceof Error ? error.message : 'This is no JSON.';
		const position = /position (\d+)/.exec(message)?.[1];
		if (position === undefined || message.includes('line')) return message;
		const line = text.slice(0, Number(position)).split('\n').length;
		return `${message} (line ${line})`;
	}
}
