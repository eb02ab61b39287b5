// @rest

import { client } from '../support/client.js';
import { onEachStack, onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { type Listed, listedKeys } from '../support/listed.js';
import { createSecret, newOrganization, newPlace, type Place } from '../support/management.js';
import { facts, schema } from '../support/stack.js';

/** Organizations, projects, environments and their API keys. */

onEachStack(`writes to the API take effect in checks, and removals end access`, async (t, stack) => {
	const { environment: http, pdp } = stack;
	let revision = (await http.get<{ revision: number }>('/v2/projects/default/dev/policy')).body.revision;
	t.is(revision, 1, 'an environment begins with its first revision');
	const wrote = async (method: string, path: string, body?: unknown, status = 200) => {
		const answer = await http.send(method, path, body);
		t.is(answer.status, status, JSON.stringify(answer.body));
		revision += 1;
		t.is(answer.revision, revision, `${method} ${path}`);
	};
	const allowed = async (action: string, tenant: string) => {
		await stack.reached(revision);
		const answer = await pdp.post('/allowed', { user: 'auth0|ann', action, resource: { type: 'document', tenant } });
		t.true((answer.revision ?? 0) >= revision);
		return answer.body['allow'];
	};

	await wrote('POST', `${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {}, write: {} } });
	await wrote('POST', `${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['document:read'] });
	await wrote('POST', `${schema}/roles`, { key: 'editor', name: 'Editor', extends: ['viewer'] });
	await wrote('POST', `${facts}/tenants`, { key: 'acme', name: 'Acme' });
	await wrote('PUT', `${facts}/users/auth0%7Cann`, { key: 'auth0|ann', email: 'ann@example.com' }, 201);
	t.false(await allowed('read', 'acme'), 'only granted access is allowed');
	await wrote('POST', `${facts}/role_assignments`, { user: 'auth0|ann', role: 'editor', tenant: 'acme' });
	t.true(await allowed('read', 'acme'), 'by the extended role');
	t.false(await allowed('write', 'acme'));
	t.false(await allowed('read', 'default'));
	await wrote('POST', `${schema}/roles/editor/permissions`, { permissions: ['document:write'] });
	t.true(await allowed('write', 'acme'));
	await wrote('DELETE', `${schema}/roles/editor/permissions`, { permissions: ['document:write'] });
	t.false(await allowed('write', 'acme'));
	await wrote('PATCH', `${schema}/resources/document`, { actions: { write: {} } });
	t.false(await allowed('read', 'acme'), 'a deleted action is no longer granted');

	const policy = (await http.get<Policy>('/v2/projects/default/dev/policy')).body;
	t.like(policy, { revision, schema_revision: revision, compiled_revision: revision, failure: null });
	t.regex(policy.hash, /^[0-9a-f]{64}$/);
	const generated = policy.files.filter(({ text }) => text.includes('package regolith.resources'));
	t.is(generated.length, 1);
	t.true(generated[0]?.text.includes('"write"') && !generated[0].text.includes('"read"'));

	await wrote('DELETE', `${facts}/role_assignments`, { user: 'auth0|ann', role: 'editor', tenant: 'acme' }, 204);
	const later = (await http.get('/v2/projects/default/dev/policy')).body;
	t.like(later, { revision, schema_revision: policy.revision, compiled_revision: policy.revision });
	await wrote('DELETE', `${facts}/users/auth0%7Cann`, undefined, 204);
	t.is((await stack.organization.delete('/v2/projects/default/envs/dev')).status, 204);
	fails(t, await http.get(`${facts}/users`), 401);
});

interface Policy {
	readonly revision: number;
	readonly hash: string;
	readonly files: readonly { readonly path: string; readonly text: string }[];
}

const journey = onEachStore();
const hexId = (id: string) => id.replaceAll('-', '');

journey(
	'a key can read its scope, and requests without a valid key get no data',
	async (t, place, { url, organization, project }) => {
		const { organization_id, project_id, id: environment_id } = place;
		t.deepEqual((await organization.get('/v2/api-key/scope')).body, {
			organization_id,
			project_id: null,
			environment_id: null,
		});
		t.deepEqual((await project.get('/v2/api-key/scope')).body, { organization_id, project_id, environment_id: null });
		t.deepEqual((await place.http.get('/v2/api-key/scope')).body, { organization_id, project_id, environment_id });

		const open = client(url);
		for (const authorization of [`bearer ${place.secret}`, `BEARER ${place.secret}`, `Bearer  ${place.secret}`]) {
			t.is((await open.get('/v2/api-key/scope', { headers: { authorization } })).status, 200, authorization);
		}
		const wrong = [
			'',
			'Bearer',
			'Bearer ',
			place.secret,
			`Basic ${place.secret}`,
			`Bearer ${place.secret}x`,
			'Bearer permit_key_',
		];
		fails(t, await open.get('/v2/api-key/scope'), 401);
		for (const authorization of wrong) {
			const refused = await open.get('/v2/api-key/scope', { headers: { authorization } });
			fails(t, refused, 401);
			t.false(JSON.stringify(refused.body).includes(place.secret), 'no secret is repeated');
		}
	},
);

journey(
	'an environment’s key is returned with its secret, by any name of the environment',
	async (t, place, management) => {
		const { project_id, id, organization_id } = place;
		const { body } = await management.project.get(`/v2/api-key/default/${place.key}`);
		t.like(body, {
			organization_id,
			project_id,
			environment_id: id,
			object_type: 'env',
			access_level: 'admin',
			owner_type: 'pdp_config',
		});
		t.like(body, {
			secret: place.secret,
			created_by_member: null,
			last_used_at: null,
			env: { id },
			project: { id: project_id },
		});
		t.regex(place.secret, /^permit_key_.{86,}$/);
		for (const project of ['default', project_id, hexId(project_id), project_id.toUpperCase()]) {
			for (const environment of [place.key, id, hexId(id).toUpperCase()]) {
				const again = await place.http.get(`/v2/api-key/${project}/${environment}`);
				t.is(again.body['secret'], place.secret, `${project}/${environment}`);
			}
		}
		fails(t, await management.project.get('/v2/api-key/default/nowhere'), 404, 'nowhere');
		fails(t, await management.project.get(`/v2/api-key/nowhere/${place.key}`), 404, 'nowhere');
		const reader = client(
			management.url,
			await createSecret(management.store, organization_id, { access_level: 'read' }),
		);
		fails(t, await reader.get(`/v2/api-key/default/${place.key}`), 403, 'read');
	},
);

journey(
	'a new project has the two default environments, or the given environments',
	async (t, { organization_id, key }, { organization }) => {
		const name = (suffix: string) => `${key}-${suffix}`;
		const plain = await organization.post<{ id: string }>('/v2/projects', { key: name('plain'), name: 'Plain' });
		t.is(plain.status, 200);
		t.like(plain.body, { key: name('plain'), name: 'Plain', organization_id, description: null, settings: null });
		t.like(plain.body, { urn_namespace: null, active_policy_repo_id: null });
		fails(t, await organization.post('/v2/projects', { key: name('plain'), name: 'Again' }), 409, name('plain'));
		const environments = (project: string) => organization.get<Listed>(`/v2/projects/${project}/envs`);
		t.deepEqual(listedKeys((await environments(name('plain'))).body), ['dev', 'production']);
		t.deepEqual(
			(await environments(plain.body.id)).body.map((environment) => environment['name']),
			['Development', 'Production'],
		);

		await organization.post('/v2/projects', { key: name('none'), name: 'None', initial_environments: [] });
		t.deepEqual((await environments(name('none'))).body, []);
		const initial_environments = [
			{ key: 'eu', name: 'EU', description: 'Europe', settings: { a: 1 } },
			{ key: 'us', name: 'US' },
		];
		await organization.post('/v2/projects', { key: name('own'), name: 'Own', initial_environments });
		const own = (await environments(name('own'))).body;
		t.deepEqual(listedKeys(own), ['eu', 'us']);
		t.like(own[0], { description: 'Europe', settings: { a: 1 } });

		const twice = [
			{ key: 'eu', name: 'EU' },
			{ key: 'eu', name: 'EU' },
		];
		fails(
			t,
			await organization.post('/v2/projects', { key: name('twice'), name: 'T', initial_environments: twice }),
			409,
			'eu',
		);
		fails(t, await organization.get(`/v2/projects/${name('twice')}`), 404, name('twice'));
		const wrong = [{ key: 'e u', name: 'EU' }];
		const refused = await organization.post('/v2/projects', {
			key: name('wrong'),
			name: 'W',
			initial_environments: wrong,
		});
		fails(t, refused, 422);
		t.deepEqual(problemPlaces(refused), ['body.initial_environments.0.key']);
	},
);

journey(
	'a project can be read under any of its names, updated, and deleted with its contents',
	async (t, { key }, management) => {
		const { organization, url } = management;
		const sent = {
			key: `${key}-shop`,
			name: 'Shop',
			description: 'Sells',
			urn_namespace: 'my-shop',
			settings: { a: [1] },
		};
		const made = (await organization.post<{ id: string }>('/v2/projects', { ...sent, active_policy_repo_id: null }))
			.body;
		t.like(made, sent);
		for (const name of [sent.key, made.id, hexId(made.id)])
			t.deepEqual((await organization.get(`/v2/projects/${name}`)).body, { ...made });
		t.true(listedKeys((await organization.get<Listed>('/v2/projects?per_page=100')).body).includes(sent.key));
		t.is((await organization.get<Listed>('/v2/projects?per_page=1&page=2')).body.length, 1);

		const path = `/v2/projects/${sent.key}`;
		t.like((await organization.patch(path, { description: 'Sells more' })).body, {
			...sent,
			description: 'Sells more',
		});
		const repo = '11111111222243338444555555555555';
		t.is(
			(await organization.patch(path, { active_policy_repo_id: repo })).body['active_policy_repo_id'],
			'11111111-2222-4333-8444-555555555555',
		);
		const cleared = await organization.patch(path, {
			description: null,
			settings: null,
			active_policy_repo_id: null,
			name: null,
			key: 'x',
		});
		t.like(cleared.body, {
			id: made.id,
			key: sent.key,
			name: 'Shop',
			description: null,
			settings: null,
			active_policy_repo_id: null,
		});
		t.deepEqual((await organization.patch(path, {})).body, cleared.body);

		const inside = await newPlace(management, organization, sent.key);
		await inside.http.post(`${inside.facts}/users`, { key: 'ann' });
		const ofProject = client(
			url,
			await createSecret(management.store, inside.organization_id, { project_id: made.id }),
		);
		t.is((await ofProject.delete(path)).status, 204);
		for (const method of ['GET', 'PATCH', 'DELETE']) {
			fails(t, await organization.send(method, path, method === 'PATCH' ? {} : undefined), 404, sent.key);
		}
		fails(t, await inside.http.get(`${inside.facts}/users`), 401);
		fails(t, await ofProject.get('/v2/api-key/scope'), 401);
		t.deepEqual(await countRows(inside), { deleted_environment_keys: 1 }, 'only the record of the deletion is left');
		t.is((await organization.post('/v2/projects', sent)).status, 200, 'the key is free again');
	},
);

journey('an environment can be created, read by key and id, updated and deleted', async (t, place, { project }) => {
	const path = '/v2/projects/default/envs';
	const jwks = { ttl: 60, url: 'https://id.example.com/keys', jwks: { keys: [{ kid: 'a' }] } };
	const sent = {
		key: `${place.key}-eu`,
		name: 'EU',
		description: 'Europe',
		custom_branch_name: 'eu',
		jwks,
		settings: { a: { b: null } },
	};
	const created = await project.post<{ id: string }>(path, sent);
	t.is(created.status, 200);
	t.is(created.revision, 1);
	const made = created.body;
	t.like(made, { ...sent, avp_policy_store_id: null, email_configuration: null, project_id: place.project_id });
	t.false('revision' in made);
	for (const name of [sent.key, made.id, hexId(made.id)])
		t.deepEqual((await project.get(`${path}/${name}`)).body, { ...made });
	fails(t, await project.post(path, sent), 409, sent.key);
	t.deepEqual(listedKeys((await project.get<Listed>(`${path}?per_page=1&page=1`)).body), ['dev']);

	const ledger = await openLedger(t, {
		...place,
		id: made.id,
		revision: async () => (await place.store.counters(made.id))?.revision ?? -1,
	});
	const described = await ledger.wrote(await project.patch(`${path}/${sent.key}`, { description: 'EU only' }));
	t.deepEqual({ ...described, updated_at: null }, { ...made, description: 'EU only', updated_at: null });
	for (const nothing of [{}, { description: 'EU only' }, { name: null }, { settings: sent.settings }, { key: 'x' }]) {
		t.deepEqual(
			await ledger.kept(await project.patch(`${path}/${sent.key}`, nothing)),
			described,
			JSON.stringify(nothing),
		);
	}
	const defaults = await ledger.wrote(await project.patch(`${path}/${sent.key}`, { jwks: {} }));
	t.deepEqual(defaults['jwks'], { ttl: 600, url: null, jwks: null });
	const nulls = { description: null, custom_branch_name: null, jwks: null, settings: null };
	t.like(await ledger.wrote(await project.patch(`${path}/${sent.key}`, nulls)), { ...nulls, name: 'EU' });
	const wrong = await project.patch(`${path}/${sent.key}`, { jwks: { url: 'http://id.example.com', ttl: -1 } });
	fails(t, wrong, 422);
	t.deepEqual([...problemPlaces(wrong)].sort(), ['body.jwks.ttl', 'body.jwks.url']);
	await ledger.balanced();

	t.is((await project.delete(`${path}/${sent.key}`)).status, 204);
	for (const method of ['GET', 'PATCH', 'DELETE']) {
		fails(t, await project.send(method, `${path}/${sent.key}`, method === 'PATCH' ? {} : undefined), 404, sent.key);
	}
});

journey('a new environment is empty, even if it has the key of a deleted environment', async (t, place, management) => {
	const key = `${place.key}-again`;
	let before: string | undefined;
	for (const round of [1, 2]) {
		const { http, schema, facts, revision, id } = await newPlace(management, management.organization, 'default', key);
		t.not(id, before);
		t.is(await revision(), 1);
		t.deepEqual((await http.get<unknown>(`${schema}/roles`)).body, []);
		t.deepEqual((await http.get<unknown>(`${schema}/resources`)).body, []);
		t.deepEqual(listedKeys((await http.get<Listed>(`${facts}/tenants`)).body), ['default']);
		t.is((await http.get(`${facts}/users`)).body['total_count'], 0);
		t.deepEqual((await http.get<unknown>(`${facts}/role_assignments`)).body, []);

		await http.post(`${schema}/resources`, {
			key: 'd',
			name: 'D',
			actions: { read: {} },
			attributes: { a: { type: 'bool' } },
		});
		await http.post(`${schema}/roles`, { key: 'a', name: 'A', permissions: ['d:read'] });
		await http.post(`${schema}/roles`, { key: 'b', name: 'B', extends: ['a'] });
		await http.post(`${facts}/users`, { key: 'ann', role_assignments: [{ role: 'b', tenant: 'default' }] });
		t.is((await http.delete(`/v2/projects/default/envs/${key}`)).status, 204, `round ${round}`);
		fails(t, await http.get(`${facts}/users`), 401);
		fails(t, await management.organization.get(`${facts}/users`), 404, key);
		t.deepEqual(
			await countRows({ store: management.store, id }),
			{ deleted_environment_keys: 1 },
			'only the record of the deletion is left',
		);
		before = id;
	}
});

/** Counts an environment's rows by table, without empty tables. */
async function countRows({ store, id }: Pick<Place, 'store' | 'id'>) {
	const { knex } = store.database;
	const columns: { table_name: string }[] = await knex('information_schema.columns')
		.where({ table_schema: 'public', column_name: 'environment_id' })
		.select('table_name');
	const counts: [string, number][] = [];
	for (const { table_name } of columns) {
		const rows = await knex(table_name).where({ environment_id: id });
		if (rows.length > 0) counts.push([table_name, rows.length]);
	}
	return Object.fromEntries(counts);
}

journey('an environment’s key can see its own project and environment', async (t, place) => {
	t.deepEqual(listedKeys((await place.http.get<Listed>('/v2/projects')).body), ['default']);
	t.deepEqual(listedKeys((await place.http.get<Listed>('/v2/projects/default/envs')).body), [place.key]);
});

journey('environments in other projects and organizations are not accessible', async (t, place, management) => {
	const { organization, project, url } = management;
	await organization.post('/v2/projects', { key: `${place.key}-p`, name: 'P' });
	fails(t, await project.get(`/v2/projects/${place.key}-p`), 403, `${place.key}-p`);
	fails(t, await place.http.get(`/v2/projects/${place.key}-p/envs`), 403, `${place.key}-p`);
	fails(t, await place.http.get('/v2/facts/default/dev/users'), 403, 'dev');
	fails(t, await place.http.get('/v2/facts/default/nowhere/users'), 404, 'nowhere');
	fails(t, await place.http.get('/v2/facts/nowhere/dev/users'), 404, 'nowhere');
	const other = await newOrganization(management, `${place.key}-other`);
	t.deepEqual((await other.http.get<unknown>('/v2/projects')).body, []);
	for (const path of [
		`/v2/projects/${place.project_id}`,
		`/v2/facts/${place.project_id}/${place.id}/users`,
		'/v2/projects/default',
	]) {
		fails(t, await other.http.get(path), 404);
	}
	t.is((await other.http.post('/v2/projects', { key: 'default', name: 'Same key, other organization' })).status, 200);
	t.is((await client(url).get('/healthy')).status, 200);
});

journey('an unknown path gets the usual error format', async (t, { http, facts }, { url }) => {
	t.deepEqual((await client(url).get('/healthy')).body, { status: 'ok' });
	for (const path of [
		'/',
		'/v2',
		'/v2/nothing',
		'/v3/users',
		`${facts}/users/`,
		`${facts}/USERS`,
		'/v2/api-key/scope/',
	]) {
		fails(t, await http.get(path), 404, path);
	}
	const wrong = await http.put(`${facts}/users`, {});
	fails(t, wrong, 405, 'PUT');
	t.deepEqual(
		wrong.headers
			.get('allow')
			?.split(', ')
			.filter((method) => method !== 'HEAD')
			.sort(),
		['GET', 'POST'],
	);
	t.is((await http.get(`/${facts}//users`)).status, 200, 'a base URL may end in a slash');
});
