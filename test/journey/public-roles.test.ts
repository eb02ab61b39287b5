import { newestChanges } from '../support/changes.js';
import type { Answer, Loose } from '../support/client.js';
import { onEachStack, onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { furnished, assignmentNames as named } from '../support/furnished.js';
import type { Listed } from '../support/listed.js';
import { newPlace } from '../support/management.js';

/** Roles assigned to everyone (docs/policy/public-roles.md). */

const journey = onEachStore();

/** Folders, and documents whose readers are derived from a public role on folders. */
const furniture = {
	format: 'regolith-environment',
	version: 1,
	schema: {
		resources: {
			folder: {
				name: 'Folder',
				actions: { list: {} },
				roles: { viewer: { name: 'Viewer', permissions: ['list'], public: true }, owner: { name: 'Owner' } },
			},
			document: {
				name: 'Document',
				actions: { read: {}, write: {} },
				relations: { parent: { name: 'Parent', subject_resource: 'folder' } },
				roles: {
					reader: {
						name: 'Reader',
						permissions: ['read'],
						granted_to: {
							users_with_role: [{ role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }],
						},
					},
				},
			},
		},
		roles: { admin: { name: 'Admin', permissions: ['document:write'] } },
	},
	facts: {
		tenants: { acme: { name: 'Acme' }, beta: { name: 'Beta' } },
		users: { ann: {}, ben: {} },
		resource_instances: { 'folder:f': { tenant: 'acme' }, 'document:d': { tenant: 'acme' } },
		relationship_tuples: [{ subject: 'folder:f', relation: 'parent', object: 'document:d' }],
		role_assignments: [{ user: 'ann', role: 'owner', resource_instance: 'folder:f' }],
	},
};

const toEveryone = { user: '*', role: 'viewer', resource_instance: 'folder:f' };

journey('a public role can be assigned to everyone, listed and removed like any other role', async (t, place) => {
	const { http, facts, schema } = place;
	const { path, env } = await furnished(place, furniture);
	t.is((await http.get(`${schema}/resources/folder/roles/viewer`)).body['public'], true);
	t.false('public' in (await http.get(`${schema}/resources/folder/roles/owner`)).body);

	const given = await http.post(path, toEveryone);
	t.is(given.status, 200, JSON.stringify(given.body));
	t.like(given.body, { ...toEveryone, tenant: 'acme' });
	t.deepEqual(await newestChanges(place), ['create role_assignment *#viewer@folder:f']);
	fails(t, await http.post(path, toEveryone), 409, '*#viewer@folder:f');
	t.deepEqual(named((await http.get<Listed>(`${path}?user=*`)).body), ['*#viewer@folder:f']);
	t.deepEqual(named((await http.get<Listed>(`${path}?user=ann`)).body), ['ann#owner@folder:f']);
	t.is((await http.get<Listed>(path)).body.length, 2);
	const detailed = await http.get<readonly Loose[]>(`${path}?user=*&detailed=true`);
	t.like(detailed.body[0], { user: { key: '*', email: null, attributes: {} }, role: { key: 'viewer' } });

	t.is((await http.delete(path, toEveryone)).status, 204);
	fails(t, await http.delete(path, toEveryone), 404, '*#viewer@folder:f');
	const soon = new Date(Date.now() + 3_600_000).toISOString();
	const bulk = await http.post(`${path}/bulk`, [{ ...toEveryone, expires_at: soon }]);
	t.deepEqual([bulk.status, bulk.body], [200, { assignments_created: 1 }]);
	t.is((await http.get<Listed>(`${path}?user=*`)).body[0]?.['expires_at'], soon);
	t.deepEqual((await http.delete(`${path}/bulk`, [toEveryone])).body, { assignments_removed: 1 });

	// `*` is not listed as a user.
	t.deepEqual((await http.get<{ data: Listed }>(`${facts}/users`)).body.data.map(({ key }) => key).sort(), [
		'ann',
		'ben',
	]);
	for (const answer of [
		await http.get(`${facts}/users/*`),
		await http.delete(`${facts}/users/*`),
		await http.patch(`${facts}/users/*`, { email: 'a@example.com' }),
	]) {
		fails(t, answer, 404, '*');
	}
	fails(t, await http.post(`${facts}/users`, { key: '*' }), 422, 'body');
	t.like((await http.get(`${env}/stats`)).body['stats'], { users: 2 });
});

const closed: readonly (readonly [body: object, text: string])[] = [
	[{ user: '*', role: 'admin', tenant: 'acme' }, 'only roles on instances'],
	[{ user: '*', role: 'owner', resource_instance: 'folder:f' }, '`folder:owner`'],
	[{ user: '*', role: 'reader', resource_instance: 'document:new', tenant: 'acme' }, '`document:reader`'],
];

journey('only public roles on instances can be assigned to everyone', async (t, place) => {
	const { http, schema } = place;
	const { path, env } = await furnished(place, furniture);
	const good = { user: 'ann', role: 'viewer', resource_instance: 'folder:f' };
	for (const [body, text] of closed) {
		const single = await http.post(path, body);
		fails(t, single, 422, text);
		t.deepEqual(problemPlaces(single), ['body.user']);
		const bulk = await http.post(`${path}/bulk`, [good, body]);
		fails(t, bulk, 422, text);
		t.deepEqual(problemPlaces(bulk), ['body.1.user']);
		const { tenant = null, resource_instance = null, ...rest } = body as Loose;
		const entry = resource_instance === null ? { ...rest, tenant } : { ...rest, resource_instance };
		if (resource_instance === 'document:new') continue;
		const imported = await http.post(`${env}/import`, {
			format: 'regolith-environment',
			version: 1,
			facts: { role_assignments: [entry] },
		});
		fails(t, imported, 422, text);
		t.deepEqual(problemPlaces(imported), ['body.facts.role_assignments.0.user']);
	}
	fails(t, await http.post(path, { user: '*', role: 'none', resource_instance: 'folder:f' }), 404, 'none');
	t.deepEqual(named((await http.get<Listed>(`${path}?user=*`)).body), []);
	for (const answer of [
		await http.post(`${schema}/roles`, { key: 'open', name: 'Open', public: true }),
		await http.patch(`${schema}/roles/admin`, { public: true }),
	]) {
		fails(t, answer, 422, 'only resource roles can be assigned to everyone');
		t.deepEqual(problemPlaces(answer), ['body.public']);
	}
});

journey('a role that is no longer public loses its assignments to everyone', async (t, place) => {
	const { http, schema } = place;
	const { path, env } = await furnished(place, furniture);
	const role = `${schema}/resources/folder/roles/viewer`;
	await http.post(`${path}/bulk`, [toEveryone, { ...toEveryone, user: 'ben' }]);
	t.is((await http.patch(role, { name: 'Reader' })).body['public'], true, 'absent fields are kept');
	t.is((await http.get<Listed>(`${path}?user=*`)).body.length, 1);
	const { body } = await http.patch(role, { public: false });
	t.false('public' in body);
	t.deepEqual(named((await http.get<Listed>(`${path}?role=viewer`)).body), ['ben#viewer@folder:f']);
	t.deepEqual(await newestChanges(place), ['delete role_assignment *#viewer@folder:f', 'update role folder:viewer']);

	const undo = async () => {
		const { body: draft } = await http.post<Loose>(`${env}/changes/${await place.revision()}/undo`, {});
		const { base_revision, changes } = draft;
		const applied = await http.post(`${env}/drafts/apply`, { base_revision, changes });
		t.is(applied.status, 200, JSON.stringify([draft, applied.body]));
	};
	const held = ['*#viewer@folder:f', 'ben#viewer@folder:f'];
	await undo();
	t.deepEqual(named((await http.get<Listed>(`${path}?role=viewer`)).body).sort(), held);
	await http.patch(role, { description: 'Reads' });
	await undo();
	t.deepEqual(named((await http.get<Listed>(`${path}?role=viewer`)).body).sort(), held);
});

journey('documents contain public roles and their assignments', async (t, place, management) => {
	const { http } = place;
	const { path, env } = await furnished(place, furniture);
	await http.post(path, toEveryone);
	const { body: exported } = await http.get<Loose>(`${env}/export`);
	const text = JSON.stringify(exported);
	t.true(text.includes('"user":"*"') && text.includes('"public":true'), text);
	t.false(text.includes('"public":false'));
	const other = await newPlace(management, management.project);
	const into = `/v2/projects/${other.project}/envs/${other.key}`;
	const imported = await other.http.post(`${into}/import`, exported);
	t.is(imported.status, 200, JSON.stringify(imported.body));
	const { body: again } = await other.http.get<Loose>(`${into}/export`);
	t.deepEqual([again['schema'], again['facts']], [exported['schema'], exported['facts']]);
});

onEachStack('every user has a role that is assigned to everyone, and listings show this', async (t, stack) => {
	const { environment, pdp } = stack;
	const facts = '/v2/facts/default/dev';
	const wrote = async (answer: Answer<unknown>) => {
		t.true(answer.status < 300, JSON.stringify(answer.body));
		await stack.reached(answer.revision);
	};
	await wrote(await environment.post('/v2/projects/default/envs/dev/import', furniture));
	const check = async (user: string, type: string, action = type === 'folder' ? 'list' : 'read') => {
		const resource = { type, key: type === 'folder' ? 'f' : 'd', tenant: 'acme' };
		return (await pdp.post('/allowed', { user: { key: user }, action, resource })).body['allow'];
	};
	const users = async (type: string, action: string) => {
		const resource = { type, key: type === 'folder' ? 'f' : 'd', tenant: 'acme' };
		return Object.keys((await pdp.post<{ users: object }>('/authorized_users', { action, resource })).body.users);
	};
	t.deepEqual([await check('ben', 'folder'), await check('stranger', 'document')], [false, false]);
	await wrote(await environment.post(`${facts}/role_assignments`, toEveryone));
	for (const user of ['ann', 'ben', 'stranger']) {
		t.deepEqual([await check(user, 'folder'), await check(user, 'document')], [true, true], user);
		t.false(await check(user, 'document', 'write'));
		const { body } = await pdp.post<Readonly<Record<string, { roles: string[] }>>>('/user-permissions', { user });
		t.deepEqual(Object.keys(body).sort(), ['document:d', 'folder:f'], user);
		const anywhere = { user: { key: user }, action: 'read', resource: { type: 'document', key: 'd' } };
		const { allowed_tenants: tenants } = (await pdp.post<Loose>('/allowed/all-tenants', anywhere)).body;
		t.deepEqual(
			(tenants as { tenant: { key: string } }[]).map(({ tenant }) => tenant.key),
			['acme'],
			user,
		);
	}
	t.deepEqual(await users('document', 'read'), ['*']);
	t.deepEqual(await users('document', 'write'), []);
	await wrote(await environment.post(`${facts}/role_assignments`, { ...toEveryone, user: 'ben' }));
	t.deepEqual(await users('folder', 'list'), ['*', 'ben']);
	const search = {
		subject: { type: 'user' },
		action: { name: 'read' },
		resource: { type: 'document', id: 'd', properties: { tenant: 'acme' } },
	};
	const found = await pdp.post<{ results: { id: string }[] }>('/access/v1/search/subject', search);
	t.deepEqual(
		found.body.results.map(({ id }) => id),
		['ann', 'ben'],
		JSON.stringify(found.body),
	);
	const { body } = await pdp.post<Loose>('/allowed', {
		user: { key: 'stranger' },
		action: 'list',
		resource: { type: 'folder', key: 'f', tenant: 'acme' },
		use_debugger: 'attempts',
	});
	const text = JSON.stringify(body);
	t.true(text.includes('"user":"*"'), text);

	const roles = '/v2/schema/default/dev/resources/document/roles';
	await wrote(await environment.post(roles, { key: 'banned', name: 'Banned' }));
	const guest = {
		key: 'guest',
		name: 'Guest',
		permissions: ['write'],
		computed: { allOf: ['reader', { not: 'banned' }] },
	};
	await wrote(await environment.post(roles, guest));
	const banned = { user: 'ben', role: 'banned', resource_instance: 'document:d' };
	await wrote(await environment.post(`${facts}/role_assignments`, banned));
	for (const [user, holds] of Object.entries({ ann: true, ben: false, stranger: true })) {
		t.is(await check(user, 'document', 'write'), holds, user);
	}
	t.deepEqual(await users('document', 'write'), ['ann'], 'everyone except ben: stored users are listed one by one');
	await wrote(await environment.delete(`${facts}/role_assignments`, toEveryone));
	t.deepEqual([await check('ben', 'folder'), await check('stranger', 'document')], [true, false]);
	t.deepEqual(await users('document', 'read'), ['ben']);
});
