// @rest

import { client, type Loose } from '../support/client.js';
import { askToSignIn, consolePath, signInToConsole } from '../support/console.js';
import { onEachStore } from '../support/each-store.js';
import { sending } from '../support/element.js';
import { fails } from '../support/failure.js';
import { createSecret, newPlace } from '../support/management.js';

/** Limits on console sessions, and values hidden from read-only keys. */

const journey = onEachStore();

journey('a console session writes only in its environment', async (t, place, { organization, keys }) => {
	const { id, key } = place;
	const other = `other-${key}`;
	await organization.post('/v2/projects', { key: other, name: 'Other' });
	const { http } = await signInToConsole(place, keys.organization);
	const outside = 'can only change its own environment';
	fails(t, await http.patch(`/v2/projects/${other}`, { name: 'Mine' }), 403, outside);
	fails(t, await http.post('/v2/projects', { key: `${other}-2`, name: 'Other' }), 403, outside);
	fails(t, await http.post('/v2/projects/default/envs', { key: other, name: 'Other' }), 403, outside);
	t.is((await http.post('/v2/api-key', { environment_id: id, access_level: 'read' })).status, 200);
	const { body } = await organization.get(`/v2/projects/${other}`);
	t.like(body, { key: other, name: 'Other' });
});

/** API keys with a wider scope than an environment. The key of `object` confirms requests for such an API key. */
const wideKeys = [
	{ opened: { object_type: 'org' }, object: 'organization', confirmation: 'default' },
	{ opened: { object_type: 'project', project_id: 'default' }, object: 'project', confirmation: 'default' },
] as const;

journey('a console session uses wider keys only after a confirmation', async (t, place, management) => {
	const { organization, keys } = management;
	const { http, headers } = await signInToConsole(place, keys.organization);
	const organizationKey = String((await organization.get<Loose[]>('/v2/orgs')).body[0]?.['key']);
	for (const { opened, object, confirmation } of wideKeys) {
		const expected = object === 'organization' ? organizationKey : confirmation;
		const body = { ...opened, access_level: 'read' };
		const created = await organization.post('/v2/api-key', body);
		t.is(created.status, 200);
		const path = `/v2/api-key/${created.body['id']}`;
		const requests = [
			['POST', '/v2/api-key', body],
			['GET', path],
			['POST', `${path}/rotate-secret`],
			['DELETE', path],
		] as const;
		for (const wrong of [undefined, '', `${expected}x`, expected.toUpperCase()]) {
			const page = sending(place.url, wrong === undefined ? headers : { ...headers, 'x-console-confirm': wrong });
			for (const [method, asked, content] of requests) {
				const answer = await page.send(method, asked, content);
				fails(
					t,
					answer,
					403,
					`confirm this with the key of the ${object}: send the header \`X-Console-Confirm: ${expected}\``,
				);
				t.deepEqual((answer.body as Loose)['additional_info'], { code: 'CONFIRMATION_REQUIRED' });
			}
		}
		const { body: kept } = await organization.get(path);
		t.is(kept['secret'], created.body['secret'], 'no refused request had an effect');
		const confirmed = sending(place.url, { ...headers, 'x-console-confirm': expected });
		const statuses = [];
		for (const [method, asked, content] of requests)
			statuses.push((await confirmed.send(method, asked, content)).status);
		t.deepEqual(statuses, [200, 200, 200, 204]);
	}
	const stated = { headers: { ...headers, 'x-console-confirm': organizationKey } };
	const listed = await http.get<{ data: Loose[] }>('/v2/api-key?per_page=100');
	t.true(
		listed.body.data.every(({ secret }) => secret === null),
		'lists have no secrets',
	);
	const other = await newPlace(management, organization);
	fails(t, await sending(place.url, stated.headers).delete(`/v2/api-key/${other.key_id}`), 403, 'no access');
});

journey('a console session deletes a project only after a confirmation', async (t, place, { organization, keys }) => {
	const { headers } = await signInToConsole(place, keys.organization);
	const other = `other-${place.key}`;
	const path = `/v2/projects/${other}`;
	await organization.post('/v2/projects', { key: other, name: 'Other' });
	for (const wrong of ['', 'default', other.toUpperCase()]) {
		const answer = await sending(place.url, { ...headers, 'x-console-confirm': wrong }).delete(path);
		fails(t, answer, 403, `confirm this with the key of the project: send the header \`X-Console-Confirm: ${other}\``);
	}
	fails(t, await sending(place.url, headers).delete(path), 403, 'X-Console-Confirm');
	t.is((await organization.get(path)).status, 200);
	const confirmed = { ...headers, 'x-console-confirm': other };
	const ofEnvironment = await signInToConsole(place, place.secret);
	const narrow = sending(place.url, { ...ofEnvironment.headers, 'x-console-confirm': other });
	fails(t, await narrow.delete(path), 403, 'the level org or project');
	fails(t, await sending(place.url, { ...confirmed, origin: 'https://evil.example' }).delete(path), 403);
	t.is((await sending(place.url, confirmed).delete(path)).status, 204);
	t.is((await organization.get(path)).status, 404);
	await organization.post('/v2/projects', { key: other, name: 'Other' });
	t.is((await organization.delete(path)).status, 204, 'an API key needs no confirmation');
});

journey('a console session ends after a day, even if it is in use', async (t, place) => {
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
	t.is(
		(await asked(shown.replace('__Host-', ''))).status,
		401,
		'a cookie without the prefix, which a different host can set',
	);
	t.regex((await askToSignIn(place, body)).headers.get('set-cookie') ?? '', /^regolith_console_/);
});

journey('a read-only key sees a webhook’s origin only, and secrets are not cached', async (t, place) => {
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
