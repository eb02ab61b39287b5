import { ApiFailure, failureMessage } from '../model/api-failure.js';

/** Client for the page's own server. It acts as the signed-in user. All calls throw `ApiFailure`. */
export interface ApiClient {
	get<Answer>(path: string, query?: Readonly<Record<string, string | number | null>>): Promise<Answer>;
	send<Answer>(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Answer>;
}

/**
 * Creates a client that sends the bearer token from `token`. If there is no token, the browser sends the cookie. Calls
 * `onSignedOut` if the server no longer accepts the user.
 */
export function createApiClient(token: () => string | null, onSignedOut: () => void): ApiClient {
	async function call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
		const shown = token();
		const headers = new Headers({ accept: 'application/json' });
		if (shown !== null) headers.set('authorization', `Bearer ${shown}`);
		if (body !== undefined) headers.set('content-type', 'application/json');
		const answer = await fetch(path, {
			method,
			headers,
			body: body === undefined ? null : JSON.stringify(body),
			// If the page has a token, do not send the cookie, because it may belong to a different session.
			credentials: shown === null ? 'same-origin' : 'omit',
			cache: 'no-store',
			referrerPolicy: 'no-referrer',
		}).catch(() => {
			throw new ApiFailure(0, 'Cannot reach the server.');
		});
		const text = await answer.text();
		const said: unknown = text === '' ? undefined : parsed(text);
		if (answer.ok) return said as Answer;
		if (answer.status === 401) onSignedOut();
		throw new ApiFailure(answer.status, failureMessage(answer.status, said));
	}
	return {
		get: (path, query = {}) => {
			const given = Object.entries(query).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]));
			return call('GET', given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`);
		},
		send: call,
	};
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
