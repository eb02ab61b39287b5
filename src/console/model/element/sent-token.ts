/** Message received by a page. */
export interface ReceivedMessage {
	readonly origin: string;
	/** True if the embedding page sent the message. */
	readonly fromEmbeddingPage: boolean;
	readonly data: unknown;
}

/** Characters allowed in a bearer token. Other characters could add content to the header. */
const tokenForm = /^[A-Za-z0-9._~+/=-]{1,512}$/;

/**
 * Returns the bearer token from a message `{type: 'permitToken', permitToken}`. Returns `null` if the message, its
 * sender or its origin is wrong.
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
