import { sentToken } from '../model/element/sent-token.js';

/** Accepts bearer tokens from the embedding page if the page has an allowed origin. Confirms receipt. */
export function listenForToken(origins: readonly string[], take: (token: string) => void): void {
	addEventListener('message', (event) => {
		const fromEmbeddingPage = parent !== window && event.source === parent;
		const token = sentToken({ origin: event.origin, fromEmbeddingPage, data: event.data }, origins);
		if (token === null) return;
		take(token);
		parent.postMessage({ type: 'permitTokenReceived' }, event.origin);
	});
}
