/** A call that a screen made. */
export interface RecordedCall {
	readonly method: string;
	/** With its query, from the root of the server. */
	readonly path: string;
	/** The body as it was sent; `null` without one. */
	readonly body: string | null;
	/** Whether the decision point was asked, and not the API. */
	readonly decision: boolean;
}

/**
 * A call as a command for a shell. The key comes from `$PERMIT_API_KEY`, the address of the decision point from
 * `$PDP_URL`; `origin` is that of the API.
 */
export function curlCommand({ method, path, body, decision }: RecordedCall, origin: string): string {
	const url = decision ? `"$PDP_URL"${quoted(path)}` : quoted(`${origin}${path}`);
	const lines = [method === 'GET' ? `curl -sS ${url}` : `curl -sS -X ${method} ${url}`];
	lines.push('-H "Authorization: Bearer $PERMIT_API_KEY"');
	if (body !== null) lines.push("-H 'Content-Type: application/json'", `-d ${quoted(body)}`);
	return lines.join(' \\\n  ');
}

/** A text as one word of a POSIX shell. */
function quoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`;
}
