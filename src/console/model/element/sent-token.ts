/** A message as a page gets it. */
export interface ReceivedMessage {
	readonly origin: string;
	/** Whether the page that embeds this one sent it. */
	readonly fromEmbeddingPage: boolean;
	readonly data: unknown;
}

/** Bearer tokens are written in these characters alone, so that no header holds anything else. */
const tokenForm = /^[A-Za-z0-9._~+/=-]{1,512}$/;

/**
 * The bearer token in a message `{type: 'permitToken', permitToken}`; `null` for every other message, and for one that
 * is not of the embedding page, or of an origin that the environment does not name.
 */
export function sentToken(
	{ origin, fromEmbeddingPage, data }: ReceivedMessage,
	origins: readonly string[],
): string | null {
	if (!fromEmbeddingPage || !origins.includes(origin)) return null;
	if (typeof data !== 'object' || data === null) return null;
	const { type, permitToken } = data as { readonly type?: unknown; readonly permitToken?: unknown };
	if (type !== 'permitToken' || typeof permitToken !== 'string') return null;
	return tokenForm.test(permitToken) ? permitToken : null;
}
