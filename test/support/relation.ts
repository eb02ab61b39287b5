import type { Place } from './management.js';

/** Adds a relation from instances of `subject` to instances of `object`, both resource keys. Returns its id. */
export async function addRelation(place: Place, object: string, key: string, subject: string): Promise<string> {
	return made(place, `${object}/relations`, { key, name: key, subject_resource: subject });
}

/** Adds a resource role without permissions. Returns its id. */
export async function addResourceRole(place: Place, resource: string, key: string): Promise<string> {
	return made(place, `${resource}/roles`, { key, name: key });
}

async function made({ http, schema }: Place, path: string, body: object): Promise<string> {
	const answer = await http.post<{ readonly id: string }>(`${schema}/resources/${path}`, body);
	if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
	return answer.body.id;
}
