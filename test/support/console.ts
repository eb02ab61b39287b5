import { type Answer, type Client, client, type Loose } from './client.js';
import { cookieOf, sending } from './element.js';
import type { Place } from './management.js';

/** Helpers for console tests. */

/** Path for console sign-in. */
export const consolePath = '/v2/auth/console';

/** A signed-in console user. */
export interface Signed {
	/** Cookie as a browser sends it. */
	readonly cookie: string;
	/** Secret in the cookie. */
	readonly secret: string;
	/** Headers for page requests. */
	readonly headers: Readonly<Record<string, string>>;
	/** Client that sends requests like a console page. */
	readonly http: Client;
}

/** Requests a sign-in as a console page does. */
export function askToSignIn({ url }: Pick<Place, 'url'>, body: object): Promise<Answer<Loose>> {
	return client(url).post(consolePath, body, { headers: { origin: url } });
}

/** Signs in to an environment with an API key. */
export async function signInToConsole({ url, id, project }: Place, api_key: string): Promise<Signed> {
	const answer = await askToSignIn({ url }, { api_key, project, environment: id });
	if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
	return signedWith(url, id, cookieOf(answer));
}

/** Returns a signed-in user with this cookie. */
export function signedWith(url: string, id: string, cookie: string): Signed {
	const headers = { cookie, 'x-console-environment': id, origin: url };
	return { cookie, secret: cookie.slice(cookie.indexOf('=') + 1), headers, http: sending(url, headers) };
}
