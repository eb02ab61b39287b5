/** Why a text is no JSON, with the line where browsers tell it; `null` for JSON. */
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
