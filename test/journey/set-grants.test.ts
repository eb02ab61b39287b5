import { newestChanges } from '../support/changes.js';
import type { Answer, Loose } from '../support/client.js';
import { onEachStack, onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { furnished, assignmentNames as named } from '../support/furnished.js';
import type { Listed } from '../support/listed.js';
import { newPlace } from '../support/management.js';

/** Roles assigned to sets of users (docs/policy/sets-of-users.md). */

const journey = onEachStore();

/** Teams that can be members of teams, and documents that teams may read. */
const furniture = {
	format: 'regolith-environment',
	version: 1,
	schema: {
		resources: {
			team: {
				name: 'Team',
				roles: {
					lead: { name: 'Lead' },
					member: {
						name: 'Member',
						grantable_to: [
							{ role: 'member', on_resource: 'team' },
							{ role: 'lead', on_resource: 'team' },
						],
					},
				},
			},
			document: {
				name: 'Document',
				actions: { read: {}, write: {} },
				relations: { parent: { name: 'Parent', subject_resource: 'document' } },
				roles: {
					reader: {
						name: 'Reader',
						permissions: ['read'],
						granted_to: {
							users_with_role: [{ role: 'reader', on_resource: 'document', linked_by_relation: 'parent' }],
						},
						grantable_to: [{ role: 'member', on_resource: 'team' }],
					},
					writer: { name: 'Writer', permissions: ['write'] },
				},
			},
		},
		roles: { admin: { name: 'Admin', permissions: ['document:write'] } },
	},
	facts: {
		tenants: { acme: { name: 'Acme' }, beta: { name: 'Beta' } },
		users: { ann: {}, ben: {} },
		resource_instances: {
			'team:eng': { tenant: 'acme' },
			'team:web': { tenant: 'acme' },
			'team:far': { tenant: 'beta' },
			'document:d': { tenant: 'acme' },
			'document:page': { tenant: 'acme' },
		},
		relationship_tuples: [{ subject: 'document:d', relation: 'parent', object: 'document:page' }],
		role_assignments: [
			{ user: 'ann', role: 'member', resource_instance: 'team:eng' },
			{ user: 'ben', role: 'member', resource_instance: 'team:web' },
		],
	},
};

const toTeam = { user: 'team:eng#member', role: 'reader', resource_instance: 'document:d' };
const stored = 'document:d#reader:team#member@team:eng';

journey('a role can be assigned to a set of users, listed and removed like any other role', async (t, place) => {
	const { http, facts, schema } = place;
	const { path } = await furnished(place, furniture);
	t.deepEqual((await http.get(`${schema}/resources/document/roles/reader`)).body['grantable_to'], [
		{ role: 'member', on_resource: 'team' },
	]);
	t.false('grantable_to' in (await http.get(`${schema}/resources/document/roles/writer`)).body);

	const given = await http.post(path, toTeam);
	t.is(given.status, 200, JSON.stringify(given.body));
	t.like(given.body, { ...toTeam, tenant: 'acme' });
	t.deepEqual(await newestChanges(place), [`create relationship_tuple ${stored}`]);
	fails(t, await http.post(path, toTeam), 409, 'team:eng#member#reader@document:d');
	const own = ['ann#member@team:eng', 'ben#member@team:web'];
	const all = [...own, 'team:eng#member#reader@document:d'];
	t.deepEqual(named((await http.get<Listed>(path)).body), all);
	const filters: readonly (readonly [query: string, found: readonly string[]])[] = [
		['user=team:eng%23member', [all[2] ?? '']],
		['user=team:eng%23lead', []],
		['user=team:web%23member', []],
		['user=team:eng', []],
		['user=ann', [all[0] ?? '']],
		['user=ann&user=team:eng%23member', [all[0] ?? '', all[2] ?? '']],
		['role=reader', [all[2] ?? '']],
		['role=member', own],
		['resource=document', [all[2] ?? '']],
		['resource_instance=document:d', [all[2] ?? '']],
		['resource_instance=document:page', []],
		['tenant=beta', []],
		['tenant=acme&per_page=1&page=3', [all[2] ?? '']],
		['per_page=2&page=2', [all[2] ?? '']],
	];
	for (const [query, found] of filters)
		t.deepEqual(named((await http.get<Listed>(`${path}?${query}`)).body), found, query);
	const page = await http.get<{ data: Listed; total_count: number }>(`${path}?include_total_count=true&per_page=2`);
	t.deepEqual([page.body.total_count, page.body.data.length], [3, 2]);
	const detailed = await http.get<{ data: readonly Loose[] }>(`${path}/detailed?role=reader`);
	t.like(detailed.body.data[0], {
		user: { key: 'team:eng#member', email: null, attributes: {} },
		role: { key: 'reader' },
	});

	// The relationship and its relation are hidden.
	t.is((await http.get<Listed>(`${facts}/relationship_tuples`)).body.length, 1);
	t.is((await http.get<{ data: Listed }>(`${facts}/relationship_tuples?include_total_count=true`)).body.data.length, 1);
	t.deepEqual(
		(await http.get<{ data: Listed }>(`${schema}/resources/document/relations`)).body.data.map(({ key }) => key),
		['parent'],
	);
	const { body: resource } = await http.get<Loose>(`${schema}/resources/document`);
	t.deepEqual(Object.keys(resource['relations'] as object), ['parent']);
	const { body: role } = await http.get<Loose>(`${schema}/resources/document/roles/reader`);
	t.is((role['granted_to'] as { users_with_role: unknown[] }).users_with_role.length, 1);
	fails(
		t,
		await http.get(`${schema}/resources/document/relations/${encodeURIComponent('reader:team#member')}`),
		404,
		'reader',
	);
	const hidden = { subject: 'team:eng', relation: 'reader:team#member', object: 'document:d' };
	t.true((await http.post(`${facts}/relationship_tuples`, hidden)).status >= 400);
	t.true((await http.delete(`${facts}/relationship_tuples`, hidden)).status >= 400);
	for (const key of ['team:eng#member', 'a#b']) fails(t, await http.post(`${facts}/users`, { key }), 422, 'body');

	t.is((await http.delete(path, toTeam)).status, 204);
	fails(t, await http.delete(path, toTeam), 404, 'team:eng#member#reader@document:d');
	const soon = new Date(Date.now() + 3_600_000).toISOString();
	const ann = { user: 'ann', role: 'reader', resource_instance: 'document:d' };
	const bulk = await http.post(`${path}/bulk`, [{ ...toTeam, expires_at: soon }, ann]);
	t.deepEqual([bulk.status, bulk.body], [200, { assignments_created: 2 }]);
	t.is((await http.get<Listed>(`${path}?user=team:eng%23member`)).body[0]?.['expires_at'], soon);
	const created = { ...toTeam, resource_instance: 'document:new', tenant: 'acme' };
	t.is((await http.post(path, created)).status, 200);
	t.deepEqual((await http.delete(`${path}/bulk`, [toTeam, ann, toTeam])).body, { assignments_removed: 2 });

	// Deleting the set's instance removes its roles.
	t.is((await http.delete(`${facts}/resource_instances/team:eng`)).status, 204);
	t.deepEqual(named((await http.get<Listed>(path)).body), ['ben#member@team:web']);
});

const refused: readonly (readonly [body: object, status: number, text: string])[] = [
	[{ user: 'team:eng#member', role: 'admin', tenant: 'acme' }, 422, 'only roles on instances'],
	[{ user: 'team:eng#lead', role: 'reader', resource_instance: 'document:d' }, 422, '`lead` on `team`'],
	[{ user: 'team:eng#member', role: 'writer', resource_instance: 'document:d' }, 422, '`document:writer`'],
	[{ user: 'team:eng#nothing', role: 'reader', resource_instance: 'document:d' }, 422, '`nothing` on `team`'],
	[{ user: 'team:eng#', role: 'reader', resource_instance: 'document:d' }, 422, '<role key>'],
	[{ user: '#member', role: 'reader', resource_instance: 'document:d' }, 422, '<role key>'],
	[{ user: 'team:eng#member#x', role: 'reader', resource_instance: 'document:d' }, 422, '<role key>'],
	[{ user: 'team:*#member', role: 'reader', resource_instance: 'document:d' }, 422, '<role key>'],
];

const notPlaced: readonly (readonly [body: object, status: number, text: string])[] = [
	[{ user: 'team:none#member', role: 'reader', resource_instance: 'document:d' }, 404, 'team:none'],
	[{ user: 'team:eng#member', role: 'none', resource_instance: 'document:d' }, 404, 'none'],
	[{ user: 'team:eng#member', role: 'reader', resource_instance: 'document:none' }, 404, 'document:none'],
	[{ user: 'team:far#member', role: 'reader', resource_instance: 'document:d' }, 400, 'beta'],
	[{ user: 'team:eng#member', role: 'reader', resource_instance: 'document:d', tenant: 'beta' }, 400, 'beta'],
];

journey('roles can be assigned only to sets that the role declares', async (t, place) => {
	const { http, schema } = place;
	const { path, env } = await furnished(place, furniture);
	const good = { user: 'ann', role: 'reader', resource_instance: 'document:d' };
	for (const [body, status, text] of [...refused, ...notPlaced]) {
		const single = await http.post(path, body);
		fails(t, single, status, text);
		const bulk = await http.post(`${path}/bulk`, [good, body]);
		fails(t, bulk, status, text);
		if (status !== 422) continue;
		t.deepEqual(problemPlaces(single), ['body.user']);
		t.deepEqual(problemPlaces(bulk), ['body.1.user']);
		const imported = await http.post(`${env}/import`, {
			format: 'regolith-environment',
			version: 1,
			facts: { role_assignments: [body] },
		});
		t.is(imported.status, 422, JSON.stringify(imported.body));
		t.deepEqual(problemPlaces(imported), ['body.facts.role_assignments.0.user']);
	}
	t.is((await http.get<Listed>(path)).body.length, 2);
	for (const answer of [
		await http.post(`${schema}/roles`, {
			key: 'r',
			name: 'R',
			grantable_to: [{ role: 'member', on_resource: 'team' }],
		}),
		await http.patch(`${schema}/roles/admin`, { grantable_to: [{ role: 'member', on_resource: 'team' }] }),
	]) {
		fails(t, answer, 422, 'only resource roles');
	}
	const roles = `${schema}/resources/document/roles`;
	fails(t, await http.patch(`${roles}/writer`, { grantable_to: [{ role: 'no', on_resource: 'team' }] }), 404, 'no');
	fails(t, await http.patch(`${roles}/writer`, { grantable_to: [{ role: 'member', on_resource: 'no' }] }), 404, 'no');
	await http.post(roles, { key: 'all', name: 'All', computed: { allOf: ['reader', 'writer'] } });
	fails(
		t,
		await http.patch(`${roles}/all`, { grantable_to: [{ role: 'member', on_resource: 'team' }] }),
		422,
		'`grantable_to`',
	);
});

journey('a set that a role no longer declares loses its assignments, and an undo restores them', async (t, place) => {
	const { http, schema } = place;
	const { path, env } = await furnished(place, furniture);
	const role = `${schema}/resources/document/roles/reader`;
	await http.post(path, toTeam);
	t.deepEqual((await http.patch(role, { name: 'Reads' })).body['grantable_to'], [
		{ role: 'member', on_resource: 'team' },
	]);
	const granted = { role: 'reader', on_resource: 'document', linked_by_relation: 'parent' };
	await http.delete(`${role}/implicit_grants`, granted);
	t.is((await http.post(`${role}/implicit_grants`, granted)).status, 200);
	t.is((await http.get<Listed>(`${path}?role=reader`)).body.length, 1, 'derivations keep assignments');

	const wider = [
		{ role: 'lead', on_resource: 'team' },
		{ role: 'member', on_resource: 'team' },
	];
	t.deepEqual((await http.patch(role, { grantable_to: wider })).body['grantable_to'], wider);
	t.is((await http.get<Listed>(`${path}?role=reader`)).body.length, 1);
	const { body } = await http.patch(role, { grantable_to: [] });
	t.false('grantable_to' in body);
	t.is((await http.get<Listed>(`${path}?role=reader`)).body.length, 0);
	t.deepEqual(await newestChanges(place), [`delete relationship_tuple ${stored}`, 'update role document:reader']);
	const undo = async () => {
		const { body: draft } = await http.post<Loose>(`${env}/changes/${await place.revision()}/undo`, {});
		const { base_revision, changes } = draft;
		const applied = await http.post(`${env}/drafts/apply`, { base_revision, changes });
		t.is(applied.status, 200, JSON.stringify([draft, applied.body]));
	};
	await undo();
	t.deepEqual((await http.get(role)).body['grantable_to'], wider);
	t.deepEqual(named((await http.get<Listed>(`${path}?role=reader`)).body), ['team:eng#member#reader@document:d']);
	await http.delete(path, toTeam);
	await undo();
	t.deepEqual(named((await http.get<Listed>(`${path}?role=reader`)).body), ['team:eng#member#reader@document:d']);
});

journey('the role of a set of users cannot be deleted while another role declares the set', async (t, place) => {
	const { http, schema } = place;
	const { path, env } = await furnished(place, furniture);
	await http.post(path, toTeam);
	fails(t, await http.delete(`${schema}/resources/team/roles/member`), 409, 'document:reader');
	fails(t, await http.delete(`${schema}/resources/team`), 409, 'document:reader');
	fails(t, await http.patch(`${schema}/resources/team`, { roles: { lead: { name: 'Lead' } } }), 409, 'document:reader');
	const base_revision = await place.revision();
	const gone = { kind: 'resource_role', operation: 'delete', key: 'team:member' };
	fails(t, await http.post(`${env}/drafts/apply`, { base_revision, changes: [gone] }), 409, 'document:reader');
	const value = { name: 'Reader', permissions: ['read'] };
	const kept = { kind: 'resource_role', operation: 'update', key: 'document:reader', value };
	const both = await http.post(`${env}/drafts/apply`, { base_revision, changes: [gone, kept] });
	t.is(both.status, 200, JSON.stringify(both.body));
	t.deepEqual((await http.get<Listed>(path)).body, []);
	t.is((await http.delete(`${schema}/resources/team`)).status, 204);
});

journey('documents contain sets of users', async (t, place, management) => {
	const { http } = place;
	const { path, env } = await furnished(place, furniture);
	await http.post(path, toTeam);
	await http.post(path, { user: 'team:web#member', role: 'member', resource_instance: 'team:eng' });
	const { body: exported } = await http.get<Loose>(`${env}/export`);
	const text = JSON.stringify(exported);
	t.true(text.includes('"user":"team:eng#member"') && text.includes('"grantable_to":['), text);
	t.false(text.includes('reader:team#member') || text.includes('"grantable_to":[]'), text);
	const other = await newPlace(management, management.project);
	const into = `/v2/projects/${other.project}/envs/${other.key}`;
	const imported = await other.http.post(`${into}/import`, exported);
	t.is(imported.status, 200, JSON.stringify(imported.body));
	const { body: again } = await other.http.get<Loose>(`${into}/export`);
	t.deepEqual([again['schema'], again['facts']], [exported['schema'], exported['facts']]);
	const replaced = await http.post(`${env}/import?conflict_strategy=replace`, furniture);
	t.is(replaced.status, 200, JSON.stringify(replaced.body));
	t.is((await http.get<Listed>(path)).body.length, 2);
});

onEachStack('users in a set have its roles, also through nested sets', async (t, stack) => {
	const { environment, pdp } = stack;
	const facts = '/v2/facts/default/dev';
	const wrote = async (answer: Answer<unknown>) => {
		t.true(answer.status < 300, JSON.stringify(answer.body));
		await stack.reached(answer.revision);
	};
	await wrote(await environment.post('/v2/projects/default/envs/dev/import', furniture));
	const may = async (user: unknown, key: string) => {
		const resource = { type: 'document', key, tenant: 'acme' };
		return (await pdp.post('/allowed', { user, action: 'read', resource })).body['allow'];
	};
	const users = async (key: string) => {
		const resource = { type: 'document', key, tenant: 'acme' };
		return Object.keys(
			(await pdp.post<{ users: object }>('/authorized_users', { action: 'read', resource })).body.users,
		).sort();
	};
	const attempts = async (user: string, key: string) => {
		const check = {
			user,
			action: 'read',
			resource: { type: 'document', key, tenant: 'acme' },
			use_debugger: 'attempts',
		};
		return JSON.stringify((await pdp.post('/allowed', check)).body);
	};
	t.deepEqual([await may('ann', 'd'), await may('ann', 'page')], [false, false]);
	const proposed =
		'{"fact":"role_assignment","user":"team:eng#member","role":"reader","tenant":"acme","resource_instance":"document:d"}';
	t.true((await attempts('ann', 'd')).includes(proposed), await attempts('ann', 'd'));
	await wrote(await environment.post(`${facts}/role_assignments`, toTeam));
	t.deepEqual([await may('ann', 'd'), await may('ann', 'page'), await may('ben', 'd')], [true, true, false]);
	t.true(await may({ set: 'team:eng#member' }, 'page'));
	t.false(await may({ set: 'team:web#member' }, 'page'));
	t.false(await may('team:eng#member', 'd'), 'a user key is not a set');
	t.deepEqual([await users('d'), await users('page')], [['ann'], ['ann']]);
	const nested = { user: 'team:web#member', role: 'member', resource_instance: 'team:eng' };
	await wrote(await environment.post(`${facts}/role_assignments`, nested));
	t.deepEqual([await may('ben', 'd'), await may('ben', 'page')], [true, true]);
	t.true(await may({ set: 'team:web#member' }, 'page'));
	t.deepEqual(await users('page'), ['ann', 'ben']);
	const { body } = await pdp.post<object>('/user-permissions', { user: 'ben' });
	t.deepEqual(Object.keys(body).sort(), ['document:d', 'document:page', 'team:eng', 'team:web']);
	await wrote(await environment.delete(`${facts}/role_assignments`, toTeam));
	t.deepEqual([await may('ann', 'd'), await may('ben', 'page')], [false, false]);
	await wrote(await environment.post(`${facts}/role_assignments`, toTeam));
	t.true(await may('ben', 'page'));
	await wrote(await environment.patch('/v2/schema/default/dev/resources/document/roles/reader', { grantable_to: [] }));
	t.deepEqual([await may('ann', 'd'), await may('ben', 'page')], [false, false]);

	// A set's role may be computed.
	const schema = '/v2/schema/default/dev/resources';
	const both = { key: 'both', name: 'Both', computed: { allOf: ['member', 'lead'] } };
	await wrote(await environment.post(`${schema}/team/roles`, both));
	const grantable_to = [{ role: 'both', on_resource: 'team' }];
	await wrote(await environment.patch(`${schema}/document/roles/writer`, { grantable_to }));
	const toBoth = { user: 'team:eng#both', role: 'writer', resource_instance: 'document:d' };
	await wrote(await environment.post(`${facts}/role_assignments`, toBoth));
	const write = { user: 'ann', action: 'write', resource: { type: 'document', key: 'd', tenant: 'acme' } };
	t.false((await pdp.post('/allowed', write)).body['allow']);
	const lead = { user: 'ann', role: 'lead', resource_instance: 'team:eng' };
	await wrote(await environment.post(`${facts}/role_assignments`, lead));
	t.true((await pdp.post('/allowed', write)).body['allow']);
});
