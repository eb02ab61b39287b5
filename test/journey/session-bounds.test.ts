// @rest

import { client } from '../support/client.js';
import { askToSignIn, consolePath, signInToConsole } from '../support/console.js';
import { onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import { createSecret } from '../support/management.js';

/** Limits on console sessions, and hidden values for read-only keys. */

const journey = onEachStore();

journey('a console session changes nothing outside of its environment', async (t, place, { organization, keys }) => {
	const { id, key, project_id } = place;
	const other = `other-${key}`;
	await organization.post('/v2/projects', { key: other, name: 'Other' });
	const { http } = await signInToConsole(place, keys.organization);
	const outside = 'can only change its own environment';
	fails(t, await http.delete(`/v2/projects/${other}`), 403, outside);
	fails(t, await http.patch(`/v2/projects/${other}`, { name: 'Mine' }), 403, outside);
	fails(t, await http.post('/v2/projects', { key: `${other}-2`, name: 'Other' }), 403, outside);
	fails(t, await http.post('/v2/projects/default/envs', { key: other, name: 'Other' }), 403, outside);
	for (const opened of [{ object_type: 'org' }, { object_type: 'project', project_id }]) {
		const made = await http.post('/v2/api-key', { ...opened, access_level: 'read' });
		fails(t, made, 403, 'the API keys of its environment');
	}
	t.is((await http.post('/v2/api-key', { environment_id: id, access_level: 'read' })).status, 200);
	const { body } = await organization.get(`/v2/projects/${other}`);
	t.like(body, { key: other, name: 'Other' });
});

journey('a console session ends after a day, however much it is used', async (t, place) => {
	const { http } = await signInToConsole(place, place.secret);
	t.is((await http.get('/v2/projects')).status, 200);
	const created_at = new Date(Date.now() - 25 * 3_600_000);
	await place.store.database.knex('console_sessions').where({ environment_id: place.id }).update({ created_at });
	const answer = await http.get('/v2/projects');
	t.like(answer, { status: 401, body: { additional_info: { code: 'EXPIRED' } } });
});

journey('the cookie of a console with TLS is limited to its host', async (t, place) => {
	const { url, id, secret, project } = place;
	const origin = 'https://regolith.example.com';
	const headers = { origin, host: 'regolith.example.com', 'x-forwarded-proto': 'https' };
	const body = { api_key: secret, project, environment: id };
	const answer = await client(url).post(consolePath, body, { headers });
	const cookie = answer.headers.get('set-cookie') ?? '';
	t.regex(cookie, new RegExp(`^__Host-regolith_console_${id}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Secure$`));
	const shown = cookie.split(';', 1)[0] ?? '';
	const asked = (sent: string) =>
		client(url).get('/v2/projects', { headers: { ...headers, cookie: sent, 'x-console-environment': id } });
	t.is((await asked(shown)).status, 200);
	t.is((await asked(shown.replace('__Host-', ''))).status, 401, 'a cookie name that a different host can set');
	t.regex((await askToSignIn(place, body)).headers.get('set-cookie') ?? '', /^regolith_console_/);
});

journey('a read-only key sees the origin of a webhook, and answers with secrets are not cached', async (t, place) => {
	const { http, elements, store, organization_id, project_id, id, url, project, key } = place;
	const address = 'https://hooks.example.com/services/T0/secret?token=x';
	const config = { key: 'members', name: 'Members', elements_type: 'user_management', settings: {} };
	await http.post(`${elements}/config`, { ...config, roles_to_levels: {}, webhook: { url: address } });
	const secret = await createSecret(store, organization_id, { project_id, environment_id: id, access_level: 'read' });
	const changes = `/v2/projects/${project}/envs/${key}/changes?kind=elements_config`;
	for (const path of [`${elements}/config`, `${elements}/config/members`, changes]) {
		t.true(JSON.stringify((await http.get(path)).body).includes(address), path);
		const shown = JSON.stringify((await client(url, secret).get(path)).body);
		t.true(shown.includes('https://hooks.example.com/********') && !shown.includes('/T0/'), path);
	}
	const revision = Number((await http.get(changes)).body['revision']);
	const draft = {
		base_revision: revision,
		changes: [{ kind: 'elements_config', operation: 'delete', key: 'members' }],
	};
	const drafted = await client(url, secret).post(`/v2/projects/${project}/envs/${key}/drafts/preview`, draft);
	t.is(drafted.status, 200, JSON.stringify(drafted.body));
	t.true(JSON.stringify(drafted.body).includes('********') && !JSON.stringify(drafted.body).includes('/T0/'));
	const { headers } = await http.get(`/v2/api-key/${project}/${key}`);
	t.is(headers.get('cache-control'), 'no-store');
});
