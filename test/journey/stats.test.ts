// @rest

import { client } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import { createSecret, newOrganization, newPlace } from '../support/management.js';

/** Counts of an environment's objects. */

const journey = onEachStore();

const nothingUsed = { current_month: null, previous_month: null, two_months_ago: null };

journey('an environment counts its objects, without built-in objects', async (t, place) => {
	const { http, schema, facts, project, key } = place;
	const path = `/v2/projects/${project}/envs/${key}`;
	const stats = async () => (await http.get(`${path}/stats`)).body;
	const uncounted = { policies: 0, mau: 0, has_decision_logs: false, members: [] };
	t.deepEqual((await stats())['stats'], { ...uncounted, roles: 0, users: 0, resources: 0, tenants: 1 });
	await http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } });
	for (const role of ['reader', 'writer']) await http.post(`${schema}/roles`, { key: role, name: role });
	const rule = { user_set: 'reader', is_role: true, permission: 'document:read' };
	await http.post(`${facts}/set_rules`, { ...rule, resource_set: 'document', is_resource: true });
	for (const user of ['ann', 'ben', 'cy']) await http.put(`${facts}/users/${user}`, {});
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	const counted = await stats();
	t.deepEqual(counted['stats'], { ...uncounted, policies: 1, roles: 2, users: 3, resources: 1, tenants: 2 });
	t.like(counted, (await http.get(path)).body, 'includes the environment itself');
	t.like(counted, { pdp_configs: [{ id: place.key_id, client_secret: place.secret }] });
	await http.delete(`${facts}/users/ben`);
	t.like((await stats())['stats'], { users: 2 });
});

journey('an organization counts the objects that the calling key can access', async (t, place, management) => {
	const other = await newOrganization(management, `${place.key}-counted`);
	const stats = async (http = other.http) => (await http.get(`/v2/orgs/${other.id}/stats`)).body;
	t.like(await stats(), { stats: { projects: 0, environments: 0, users: 0 }, historical_usage: nothingUsed });
	t.like(await stats(), (await other.http.get(`/v2/orgs/${other.id}`)).body, 'includes the organization itself');
	await other.http.post('/v2/projects', { key: 'shop', name: 'Shop' });
	await other.http.post('/v2/projects', { key: 'billing', name: 'Billing', initial_environments: [] });
	for (const env of ['dev', 'production']) {
		for (const user of ['ann', 'ben']) await other.http.put(`/v2/facts/shop/${env}/users/${user}`, {});
	}
	t.like(await stats(), { stats: { projects: 2, environments: 2, users: 4 } });
	const dev = (await other.http.get<{ id: string; project_id: string }>('/v2/projects/shop/envs/dev')).body;
	const opened = { project_id: dev.project_id, environment_id: dev.id, access_level: 'read' } as const;
	const reader = client(place.url, await createSecret(management.store, other.id, opened));
	t.like(await stats(reader), { stats: { projects: 1, environments: 1, users: 2 } });
	fails(t, await place.http.get(`/v2/orgs/${other.id}/stats`), 404, other.id);
	fails(t, await reader.get(`/v2/projects/shop/envs/production/stats`), 403, 'production');
	t.deepEqual(
		(await reader.get('/v2/projects/shop/envs/dev/stats')).body['pdp_configs'],
		[],
		'only admin keys can read secrets',
	);
	const elsewhere = await newPlace(management, management.organization);
	fails(t, await reader.get(`/v2/projects/default/envs/${elsewhere.key}/stats`), 404);
});

journey('a self-hosted organization has no members', async (t, { http, project, key }) => {
	t.deepEqual((await http.get<unknown>('/v2/members')).body, []);
	t.deepEqual((await http.get<unknown>(`/v2/members?project_id=${project}&env_id=${key}&page=2`)).body, []);
	fails(t, await http.post('/v2/members', { permissions: [] }), 405);
	fails(t, await http.get('/v2/members/me'), 404);
});
