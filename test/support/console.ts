import { type Answer, type Client, client, type Loose } from './client.js';
import { cookieOf, sending } from './element.js';
import type { Place } from './management.js';

/** What tests of the console share. */

/** Where people sign in. */
export const consolePath = '/v2/auth/console';

/** Somebody who is signed in to the console. */
export interface Signed {
	/** The cookie, as a browser sends it. */
	readonly cookie: string;
	/** The secret in it. */
	readonly secret: string;
	/** The headers of a page's requests. */
	readonly headers: Readonly<Record<string, string>>;
	/** A page of the console. */
	readonly http: Client;
}

/** Asks to sign in, as a page of the console does. */
export function askToSignIn({ url }: Pick<Place, 'url'>, body: object): Promise<Answer<Loose>> {
	return client(url).post(consolePath, body, { headers: { origin: url } });
}

/** Signs in to an environment with an API key. */
export async function signInToConsole({ url, id, project }: Place, api_key: string): Promise<Signed> {
	const answer = await askToSignIn({ url }, { api_key, project, environment: id });
	if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
	return signedWith(url, id, cookieOf(answer));
}

/** Somebody with a cookie. */
export function signedWith(url: string, id: string, cookie: string): Signed {
	const headers = { cookie, 'x-console-environment': id, origin: url };
	return { cookie, secret: cookie.slice(cookie.indexOf('=') + 1), headers, http: sending(url, headers) };
}
