import { sentToken } from '../model/element/sent-token.js';

/** Takes bearer tokens from the page that embeds this one, if it is of one of the origins, and tells it so. */
export function listenForToken(origins: readonly string[], take: (token: string) => void): void {
	addEventListener('message', (event) => {
		const fromEmbeddingPage = parent !== window && event.source === parent;
		const token = sentToken({ origin: event.origin, fromEmbeddingPage, data: event.data }, origins);
		if (token === null) return;
		take(token);
		parent.postMessage({ type: 'permitTokenReceived' }, event.origin);
	});
}
