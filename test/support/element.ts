import { type Answer, type Client, client, type Extra, type Loose } from './client.js';
import type { Place } from './management.js';

/** Helpers for element user tests. */

/** Origin that may embed elements in test environments. */
export const origin = 'https://app.example.com';
/** Origin forbidden in all environments. */
export const foreignOrigin = 'https://evil.example.com';

/** The sign-in result, as the backend receives it. */
export interface Started {
	readonly redirect_url: string;
	readonly token: string;
	readonly element_bearer_token: string;
}

/** Updates environment fields. */
export function configure({ http, project, key }: Place, fields: object): Promise<Answer<Loose>> {
	return http.patch(`/v2/projects/${project}/envs/${key}`, fields);
}

/** Creates two tenants and three users, adds `ann` to `acme`, and allows `origin` to embed elements. */
export async function furnishElements(place: Place): Promise<void> {
	const { http, facts } = place;
	for (const key of ['acme', 'other']) await http.post(`${facts}/tenants`, { key, name: key });
	await http.post(`${facts}/tenants/acme/users`, { key: 'ann' });
	for (const key of ['ben', 'cy']) await http.post(`${facts}/users`, { key });
	await configure(place, { settings: { elements_origins: [origin] } });
}

/** Signs a user in, like an application's backend. */
export async function signIn({ http }: Pick<Place, 'http'>, user_id = 'ann', tenant_id = 'acme'): Promise<Started> {
	const answer = await http.post<Started & Loose>('/v2/auth/elements_login_as', { user_id, tenant_id });
	if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
	return answer.body;
}

/** Headers for JSON requests from a browser. */
export const json = { accept: 'application/json' };

/** Redeems a ticket with a request for JSON. */
export function spend(url: string, ticket: string): Promise<Answer<Loose>> {
	return client(url).get(`/v2/auth/login_elements?token=${ticket}`, { headers: json });
}

/** Returns a response's cookie, as a browser sends it back. */
export function cookieOf(answer: Answer<unknown>): string {
	return (answer.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
}

/** Returns a client with fixed headers. */
export function sending(url: string, headers: Readonly<Record<string, string>>): Client {
	const { send } = client(url);
	const sent: Client['send'] = (method, path, body, extra: Extra = {}) =>
		send(method, path, body, { ...extra, headers: { ...headers, ...extra.headers } });
	return {
		send: sent,
		get: (path, extra) => sent('GET', path, undefined, extra),
		post: (path, body, extra) => sent('POST', path, body, extra),
		put: (path, body, extra) => sent('PUT', path, body, extra),
		patch: (path, body, extra) => sent('PATCH', path, body, extra),
		delete: (path, body, extra) => sent('DELETE', path, body, extra),
	};
}

/** Signs a user in, and returns a client with the bearer token. */
export async function bearing(place: Place, user?: string, tenant?: string): Promise<Client> {
	return client(place.url, (await signIn(place, user, tenant)).element_bearer_token);
}

/** Signs a user in, and returns a client with the cookie. */
export async function browsing(place: Place, user?: string, tenant?: string): Promise<Client> {
	const { token } = await signIn(place, user, tenant);
	return sending(place.url, { cookie: cookieOf(await spend(place.url, token)) });
}
