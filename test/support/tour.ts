import { endpoints } from '../../src/api/table.js';
import { bodies, sentAs } from './bodies.js';
import type { Answer, Client } from './client.js';
import type { Place } from './management.js';

/** What tests that go through every endpoint of the management API share. */

/** One endpoint of the table. */
export type Visited = (typeof endpoints)[number];

/** Ids or keys by the name of the path parameter they may stand in. */
export type Names = Readonly<Record<string, string>>;

/** The keys of what `furnish` makes. */
export const furnished: Names = {
	resource_id: 'document',
	action_id: 'read',
	attribute_id: 'private',
	role_id: 'editor',
	user_id: 'alice@example.com',
	tenant_id: 'acme',
};

/** Makes one object of every kind, named `mark`, so that the example bodies find what they name. Returns their ids. */
export async function furnish(place: Place, mark = 'Example'): Promise<Names> {
	const { http, schema, facts, key_id } = place;
	const made = async (path: string, body: object) => {
		const answer = await http.post<{ readonly id: string }>(path, { name: mark, ...body });
		if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
		return answer.body.id;
	};
	const actions = { read: {}, write: {} };
	const resource_id = await made(`${schema}/resources`, { key: 'document', actions });
	const action = await http.get<{ readonly id: string }>(`${schema}/resources/document/actions/read`);
	return {
		resource_id,
		action_id: action.body.id,
		attribute_id: await made(`${schema}/resources/document/attributes`, {
			key: 'private',
			type: 'bool',
			description: mark,
		}),
		role_id: await made(`${schema}/roles`, { key: 'editor', permissions: ['document:read'] }),
		tenant_id: await made(`${facts}/tenants`, { key: 'acme' }),
		api_key_id: key_id,
		task_id: await taskOf(place),
		user_id: await made(`${facts}/tenants/acme/users`, { key: 'alice@example.com', first_name: mark }),
	};
}

/** A copy out of a place that failed, under the place's own id: beginning one would make an environment more. */
async function taskOf({ id, store }: Place): Promise<string> {
	const tasks = store.copyTasks(id);
	await tasks.add(id);
	await tasks.end(id, { error: 'no reason' });
	return id;
}

/** The names of the parameters in an endpoint's path. */
export function parametersOf(endpoint: Visited): readonly string[] {
	return [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}

/** The path of an endpoint in a place, with some parameters standing for something else. */
export function pathOf(endpoint: Visited, place: Place, other: Names = {}): string {
	const { id, project, key, key_id, organization_id } = place;
	const own = { proj_id: project, env_id: key, api_key_id: key_id, org_id: organization_id, task_id: id };
	const values: Names = { ...furnished, ...own, ...other };
	return endpoint.path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? `no ${name}`);
}

/** A body that is right for an endpoint; `undefined` for those without. */
export function bodyOf(endpoint: Visited): unknown {
	const body = bodies[endpoint.name];
	return body === undefined ? undefined : sentAs(body, [body.base]);
}

/** One endpoint called, and what it answered. */
export interface Visit {
	readonly endpoint: Visited;
	readonly answer: Answer<unknown>;
}

/**
 * Calls every endpoint once, but those named in `without`, with what is right for it; deletions last and from the
 * inside out. A few do not find what one before them took away, or find what one before them made.
 */
export async function tour(
	place: Place,
	httpOf: (endpoint: Visited) => Client,
	without: ReadonlySet<string> = new Set(),
): Promise<readonly Visit[]> {
	const visits: Visit[] = [];
	const order = endpoints.filter(({ name }) => !without.has(name)).sort((left, right) => rank(left) - rank(right));
	for (const endpoint of order) {
		const answer = await httpOf(endpoint).send(
			endpoint.method.toUpperCase(),
			pathOf(endpoint, place),
			bodyOf(endpoint),
		);
		visits.push({ endpoint, answer });
	}
	return visits;
}

/** First what leaves everything in place, then deletions, of the longest path first. */
function rank({ method, path, body }: Visited): number {
	if (method !== 'delete') return 0;
	// A key goes before the environment that takes it along.
	if (path.includes(':api_key_id')) return 2;
	return body === undefined ? 100 - path.split('/').length : 1;
}
