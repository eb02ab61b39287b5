// @rest

import type { ExecutionContext } from 'ava';
import { type Client, client } from '../support/client.js';
import { onEachStack, onEachStore } from '../support/each-store.js';
import { eventually } from '../support/eventually.js';
import { fails } from '../support/failure.js';
import { createSecret, type Management, newOrganization, newPlace, type Place } from '../support/management.js';
import { facts } from '../support/stack.js';

/** API keys and organizations. `stats.test.ts` tests the organization's members. */

const journey = onEachStore();

interface Key {
	readonly id: string;
	readonly secret: string | null;
}
type Keys = readonly Key[];

/** Callers, in the order of the columns below. `place` and `other` are two environments in one project. */
const callers = [
	'organization',
	'project',
	'place',
	'writer',
	'reader',
	'placeReader',
	'otherProject',
	'stranger',
] as const;
type Caller = (typeof callers)[number];

const admins = [200, 200, 200, 403, 403, 403, 403, 404];

/** Expected statuses by key kind, call and caller. `{key}` is the id of a new key, whose kind is the first column. */
const matrix: readonly (readonly [target: string, method: string, path: string, statuses: readonly number[]])[] = [
	['place', 'GET', '/v2/pdps/default/{env}/configs/{key}/values', admins],
	['place', 'POST', '/v2/pdps/default/{env}/configs/{key}/rotate-api-key', admins],
	['place', 'PUT', '/v2/pdps/default/{env}/configs/{key}/debug-audit-logs/enable', admins],
	['place', 'PUT', '/v2/pdps/default/{env}/configs/{key}/debug-audit-logs/disable', admins],
	...keyMatrix('org', [200, 403, 403, 403, 403, 403, 403, 404]),
	...keyMatrix('project', [200, 200, 403, 403, 403, 403, 403, 404]),
	...keyMatrix('place', admins),
	...keyMatrix('other', [200, 200, 403, 403, 403, 403, 403, 404]),
];

function keyMatrix(target: string, statuses: readonly number[]) {
	const deleted = statuses.map((status) => (status === 200 ? 204 : status));
	return [
		[target, 'POST', '/v2/api-key', statuses],
		[target, 'GET', '/v2/api-key/{key}', statuses],
		[target, 'POST', '/v2/api-key/{key}/rotate-secret', statuses],
		[target, 'DELETE', '/v2/api-key/{key}', deleted],
	] as const;
}

interface World {
	readonly clients: Readonly<Record<Caller, Client>>;
	/** Bodies that create a key, keyed by the kind of key. */
	readonly bodies: Readonly<Record<string, object>>;
}

async function createWorld(place: Place, management: Management): Promise<World> {
	const { url, store, organization } = management;
	const { organization_id, project_id, id: environment_id } = place;
	const other = await newPlace(management, organization);
	const elsewhere = { key: `${place.key}-elsewhere`, name: 'Elsewhere', initial_environments: [] };
	const { body: project } = await organization.post<{ id: string }>('/v2/projects', elsewhere);
	const as = async (opened: Parameters<typeof createSecret>[2]) =>
		client(url, await createSecret(store, organization_id, opened));
	return {
		clients: {
			organization,
			project: management.project,
			place: place.http,
			writer: await as({ access_level: 'write' }),
			reader: await as({ access_level: 'read' }),
			placeReader: await as({ project_id, environment_id, access_level: 'read' }),
			otherProject: await as({ project_id: project.id }),
			stranger: (await newOrganization(management, `${place.key}-stranger`)).http,
		},
		bodies: {
			org: { organization_id, object_type: 'org' },
			project: { organization_id, object_type: 'project', project_id },
			place: { organization_id, project_id, environment_id, owner_type: 'pdp_config' },
			other: { organization_id, environment_id: other.id },
		},
	};
}

async function made(http: Client, body: object = {}): Promise<Key & { readonly secret: string }> {
	const answer = await http.post<Key & { readonly secret: string }>('/v2/api-key', body);
	if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
	return answer.body;
}

const listKeys = async (http: Client, query = '') =>
	(
		await http.get<{ data: readonly Record<string, unknown>[]; total_count: number }>(
			`/v2/api-key?per_page=100${query}`,
		)
	).body;

journey('each kind of key manages only the expected kinds of keys', async (t, place, management) => {
	const { clients, bodies } = await createWorld(place, management);
	for (const [target, method, path, statuses] of matrix) {
		for (const [index, caller] of callers.entries()) {
			const key = path.includes('{key}') ? (await made(management.organization, bodies[target])).id : '';
			const body = path.endsWith('api-key') ? bodies[target] : undefined;
			const at = path.replace('{key}', key).replace('{env}', place.key);
			const answer = await clients[caller].send(method, at, body);
			const what = `${caller}: ${method} ${path} of ${target}`;
			t.is(answer.status, statuses[index] ?? 0, `${what}: ${JSON.stringify(answer.body)}`);
			if (answer.status >= 400) fails(t, answer, answer.status);
			if (key !== '' && answer.status >= 400) {
				t.is((await management.organization.get(`/v2/api-key/${key}`)).status, 200, `${what} had no effect`);
			}
		}
	}
});

journey('a key can list keys with at most its own access, without secrets', async (t, place, management) => {
	const { clients, bodies } = await createWorld(place, management);
	const { organization } = management;
	const kinds: Readonly<Record<string, Key>> = {
		org: await made(organization, bodies['org']),
		project: await made(organization, bodies['project']),
		place: await made(organization, bodies['place']),
		other: await made(organization, bodies['other']),
		reading: await made(organization, { ...bodies['place'], access_level: 'read' }),
	};
	const seen = async (http: Client, query?: string) => {
		const ids = (await listKeys(http, query)).data.map(({ id }) => id);
		return Object.keys(kinds).filter((kind) => ids.includes(kinds[kind]?.id));
	};
	// Keys are sorted with the newest last. Concurrent tests may give the organization more keys than fit on a page.
	t.deepEqual(await seen(clients.place), ['place', 'reading']);
	t.deepEqual(await seen(clients.placeReader), ['reading']);
	t.deepEqual(await seen(clients.otherProject), []);
	t.deepEqual(await seen(clients.stranger), []);
	t.deepEqual(await seen(clients.place, '&object_type=org'), []);
	t.deepEqual(await seen(clients.place, `&proj_id=${place.project_id}`), ['place', 'reading']);
	t.deepEqual(await seen(clients.place, '&proj_id=default&object_type=env'), ['place', 'reading']);
	t.deepEqual(await seen(clients.place, '&proj_id=nothing'), []);
	for (const level of ['x', 'ORG', 'org&object_type=env']) {
		fails(t, await clients.place.get(`/v2/api-key?object_type=${level}`), 422, 'object_type');
	}
	const listed = await listKeys(clients.place);
	t.is(listed.total_count, listed.data.length);
	t.true(listed.data.every(({ secret }) => secret === null));
	t.like(listed.data[0], { env: { id: place.id }, project: { id: place.project_id } });
	const paged = await clients.place.get<{ data: Keys }>('/v2/api-key?per_page=1&page=2');
	t.like(paged.body, { page_count: listed.total_count });
	t.deepEqual(
		paged.body.data.map(({ id }) => id),
		[listed.data[1]?.['id']],
	);
});

journey('a key works until it is deleted, and each secret until the next rotation', async (t, place, management) => {
	const { http, url } = place;
	const body = { project_id: 'default', environment_id: place.key, name: 'dashboard', access_level: 'write' };
	const answer = await http.post<Record<string, unknown>>('/v2/api-key', body);
	t.like(answer.body, {
		name: 'dashboard',
		access_level: 'write',
		object_type: 'env',
		owner_type: 'member',
		last_used_at: null,
		organization_id: place.organization_id,
		project_id: place.project_id,
		environment_id: place.id,
		created_by_member: null,
		env: { key: place.key },
		project: { key: 'default' },
	});
	const { id, secret } = answer.body as unknown as { readonly id: string; readonly secret: string };
	t.deepEqual((await http.get(`/v2/api-key/${id.replaceAll('-', '').toUpperCase()}`)).body, answer.body);
	const used = (key: string) => client(url, key).get('/v2/api-key/scope');
	t.is((await used(secret)).status, 200);

	const rotated = await http.post<Record<string, unknown>>(`/v2/api-key/${id}/rotate-secret`);
	const next = String(rotated.body['secret']);
	t.deepEqual(rotated.body, { ...answer.body, secret: next, last_used_at: rotated.body['last_used_at'] });
	t.not(next, secret);
	t.is((await http.get(`/v2/api-key/${id}`)).body['secret'], next);
	fails(t, await used(secret), 401);
	t.is((await used(next)).status, 200);

	t.is((await http.delete(`/v2/api-key/${id}`)).status, 204);
	fails(t, await used(next), 401);
	fails(t, await http.get(`/v2/api-key/${id}`), 404, id);
	fails(t, await http.delete(`/v2/api-key/${id}`), 404, id);
	t.is((await http.get('/v2/api-key/scope')).status, 200, 'the other keys remain');

	// This is the environment's own key. After its rotation, decision points with the old secret are refused.
	t.is((await management.project.post(`/v2/api-key/${place.key_id}/rotate-secret`)).status, 200);
	fails(t, await http.get(`/bundles/${place.id}`), 401);
	const handed = await management.project.get(`/v2/api-key/default/${place.key}`);
	t.is(handed.body['id'], place.key_id);
	t.not(handed.body['secret'], place.secret);
	t.is((await management.project.delete(`/v2/api-key/${place.key_id}`)).status, 204);
	fails(t, await management.project.get(`/v2/api-key/default/${place.key}`), 404);
});

/** Rejected requests to create a key, with the status and the named value. */
const refused: readonly (readonly [body: object, status: number, named: string])[] = [
	[{}, 422, 'environment_id'],
	[{ object_type: 'project' }, 422, 'project_id'],
	[{ object_type: 'org', project_id: 'default' }, 422, 'project_id'],
	[{ object_type: 'project', project_id: 'default', environment_id: 'dev' }, 422, 'environment_id'],
	[{ environment_id: 'dev' }, 404, 'dev'],
	[{ project_id: 'nothing', environment_id: 'dev' }, 404, 'nothing'],
	[{ project_id: 'default', environment_id: 'nothing' }, 404, 'nothing'],
	[{ object_type: 'project', project_id: 'nothing' }, 404, 'nothing'],
	[{ object_type: 'org', organization_id: '00000000-0000-4000-8000-000000000000' }, 404, '00000000'],
];

journey('a key can be created only for existing objects', async (t, _, { organization }) => {
	for (const [body, status, named] of refused) fails(t, await organization.post('/v2/api-key', body), status, named);
});

journey('the last admin key of an organization cannot be deleted', async (t, place, management) => {
	const { http } = await newOrganization(management, `${place.key}-alone`);
	const only = async () => (await listKeys(http)).data.map(({ id }) => String(id));
	const [first = ''] = await only();
	await made(http, { object_type: 'org', access_level: 'write' });
	fails(t, await http.delete(`/v2/api-key/${first}`), 400, first);
	t.is((await http.get('/v2/api-key/scope')).status, 200);
	const second = await made(http, { object_type: 'org' });
	const heir = client(place.url, second.secret);
	// Both deletions run concurrently, and one of the two keys remains.
	const answers = await Promise.all([heir.delete(`/v2/api-key/${first}`), http.delete(`/v2/api-key/${second.id}`)]);
	t.is(answers.filter(({ status }) => status === 204).length, 1, JSON.stringify(answers.map(({ status }) => status)));
	await oneRemains(t, [http, heir]);
});

async function oneRemains(t: ExecutionContext, holders: readonly Client[]): Promise<void> {
	const statuses = await Promise.all(holders.map(async (http) => (await http.get('/v2/api-key/scope')).status));
	t.deepEqual([...statuses].sort(), [200, 401]);
}

journey('an organization can be read under any of its names, and updated', async (t, place, management) => {
	const { id, http } = await newOrganization(management, `${place.key}-named`);
	const shown = {
		id,
		key: `${place.key}-named`,
		name: `${place.key}-named`,
		is_enterprise: false,
		settings: null,
		usage_limits: { mau: 5000, tenants: 50, billing_tier: 'trial' },
	};
	t.like((await http.get('/v2/orgs/active/org')).body, shown);
	for (const name of [id, id.replaceAll('-', ''), shown.key]) {
		t.like((await http.get(`/v2/orgs/${name}`)).body, shown, name);
		t.like((await http.get(`/v2/orgs?search=${name}`)).body, [shown], name);
	}
	t.like((await http.get('/v2/orgs')).body, [shown]);
	t.deepEqual((await http.get<unknown>('/v2/orgs?search=nothing')).body, []);
	t.deepEqual((await http.get<unknown>(`/v2/orgs?search=${place.organization_id}`)).body, []);
	fails(t, await http.get(`/v2/orgs/${place.organization_id}`), 404, place.organization_id);

	const changed = { ...shown, name: 'Acme', settings: { colour: 'red' } };
	t.like((await http.patch(`/v2/orgs/${shown.key}`, { ...changed, key: 'other', is_enterprise: true })).body, changed);
	t.like((await http.patch(`/v2/orgs/${id}`, {})).body, changed, 'absent fields remain unchanged');
	t.like((await http.patch(`/v2/orgs/${id}`, { settings: null, name: null })).body, { ...changed, settings: null });
});

onEachStack(`a waiting bundle request is rejected when its key is revoked`, async (t, stack) => {
	const { environment_id } = (await stack.environment.get('/v2/api-key/scope')).body;
	const path = `/bundles/${environment_id}`;
	const given = await made(stack.organization, { project_id: 'default', environment_id: 'dev' });
	const holder = client(stack.api.listening.url, given.secret);
	const held = await holder.get(path);
	t.is(held.status, 200);
	const headers = { 'if-none-match': held.headers.get('etag') ?? '', prefer: 'modes=snapshot,delta;wait=20' };
	const waiting = holder.get(path, { headers });
	t.is((await stack.environment.delete(`/v2/api-key/${given.id}`)).status, 204);
	const { revision } = await stack.environment.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	fails(t, await waiting, 401);
	await stack.reached(revision);

	const question = { user: 'ann', action: 'read', resource: { type: 'document', tenant: 'acme' } };
	const own = (await stack.organization.get('/v2/api-key/default/dev')).body;
	t.is((await stack.organization.post(`/v2/api-key/${own['id']}/rotate-secret`)).status, 200);
	await stack.organization.post(`${facts}/tenants`, { key: 'other', name: 'Other' });
	await eventually(async () => (await stack.pdp.post('/allowed', question)).status === 503);
	t.pass('its decision points stop answering');
});
