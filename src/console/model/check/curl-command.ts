/** Call recorded for a screen. */
export interface RecordedCall {
	readonly method: string;
	/** Path from the server root, with its query. */
	readonly path: string;
	/** Request body; `null` if there is none. */
	readonly body: string | null;
	/** True for a call to the decision point. False for a call to the API. */
	readonly decision: boolean;
}

/**
 * Formats a call as a shell command. The command reads the key from `$PERMIT_API_KEY` and the decision point's URL
 * from `$PDP_URL`. `origin` is the API's origin.
 */
export function curlCommand({ method, path, body, decision }: RecordedCall, origin: string): string {
	const url = decision ? `"$PDP_URL"${quoted(path)}` : quoted(`${origin}${path}`);
	const lines = [method === 'GET' ? `curl -sS ${url}` : `curl -sS -X ${method} ${url}`];
	lines.push('-H "Authorization: Bearer $PERMIT_API_KEY"');
	if (body !== null) lines.push("-H 'Content-Type: application/json'", `-d ${quoted(body)}`);
	return lines.join(' \\\n  ');
}

/** Quotes a string as one POSIX shell word. */
function quoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`;
}
