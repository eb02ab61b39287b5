import type { Client } from './client.js';
import type { Listed } from './listed.js';
import type { Place } from './management.js';

/** Imports a document into an environment. Returns the path to its role assignments, and the environment's path. */
export async function furnished(
	place: Place,
	document: object,
): Promise<{ readonly path: string; readonly env: string }> {
	const env = `/v2/projects/${place.project}/envs/${place.key}`;
	const { status, body } = await place.http.post(`${env}/import`, document);
	if (status !== 200) throw new Error(JSON.stringify(body));
	return { path: `${place.facts}/role_assignments`, env };
}

/** Returns a function that creates an object. It throws if the API rejects the object. */
export function creating(http: Client): (path: string, body: object) => Promise<void> {
	return async (path, body) => {
		const { status, body: said } = await http.post(path, body);
		if (status !== 200) throw new Error(`${path}: ${JSON.stringify(said)}`);
	};
}

/** Returns role assignments as `<user>#<role>@<instance>`. */
export function assignmentNames(items: Listed): string[] {
	return items.map(({ user, role, resource_instance }) => `${user}#${role}@${resource_instance}`);
}
