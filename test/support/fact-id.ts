import type { Place } from './management.js';

/** Returns a fact's id. `path` is its path below the facts, such as `users/ann`. */
export async function factId({ http, facts }: Pick<Place, 'http' | 'facts'>, path: string): Promise<string> {
	return String((await http.get(`${facts}/${path}`)).body['id']);
}
