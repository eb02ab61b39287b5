// @alone @rest

import { newestChanges } from '../support/changes.js';
import type { Answer, Loose } from '../support/client.js';
import { readContents } from '../support/contents.js';
import { derivedIn } from '../support/derived.js';
import { onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import { groupRoleName } from '../support/group-role-name.js';
import { openLedger } from '../support/ledger.js';
import { type Paginated, shape } from '../support/listed.js';
import { newPlace, type Place } from '../support/management.js';

/** Groups of users with the same access. A single call gives access to all members, including later members. */

const journey = onEachStore();

/**
 * Creates documents and folders with roles and instances, the tenants acme and globex, and the users ann, ben and cy.
 */
async function furnish({ http, schema, facts }: Place): Promise<void> {
	const actions = { read: {}, write: {} };
	const roles = { viewer: { name: 'Viewer', permissions: ['read'] }, editor: { name: 'Editor' } };
	await http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions, roles });
	await http.post(`${schema}/resources`, { key: 'folder', name: 'Folder', actions, roles: { owner: { name: 'O' } } });
	await http.post(`${schema}/roles`, { key: 'admin', name: 'Admin' });
	for (const key of ['acme', 'globex']) await http.post(`${facts}/tenants`, { key, name: key });
	for (const key of ['ann', 'ben', 'cy']) await http.post(`${facts}/users`, { key });
	for (const [resource, key, tenant] of [
		['document', 'budget', 'acme'],
		['document', 'plan', 'acme'],
		['document', 'secret', 'globex'],
		['folder', 'finance', 'acme'],
	]) {
		await http.post(`${facts}/resource_instances`, { key, resource, tenant });
	}
}

/** Returns a groups API client for a place. */
function groupsClient({ http, schema }: Place) {
	const at = (group: string, part: string) => `${schema}/groups/${group}${part}`;
	const list = async (group: string, part: string) => (await http.get<Paginated>(at(group, `/${part}`))).body.data;
	const acme = { tenant: 'acme' };
	return {
		create: (group_instance_key: string, more: object = {}) =>
			http.post<Loose>(`${schema}/groups`, { group_instance_key, group_tenant: 'acme', ...more }),
		remove: (group: string) => http.delete<unknown>(at(group, '')),
		give: (group: string, role: object) => http.post<Loose>(at(group, '/roles'), { ...onBudget, ...role }),
		take: (group: string, role: object) => http.delete<unknown>(at(group, '/roles'), { ...onBudget, ...role }),
		add: (group: string, user: string, body: object = acme) => http.put(at(group, `/users/${user}`), body),
		drop: (group: string, user: string, body?: object) => http.delete<unknown>(at(group, `/users/${user}`), body),
		nest: (parent: string, group_instance_key: string) => http.put(at(parent, '/assign_group'), { group_instance_key }),
		release: (parent: string, group_instance_key: string) =>
			http.delete<unknown>(at(parent, '/assign_group'), { group_instance_key }),
		users: async (group: string) => (await list(group, 'users')).map(({ key }) => key),
		roles: async (group: string) => (await list(group, 'roles')).map(groupRoleName),
		children: async (group: string) => (await list(group, 'children')).map(groupName),
		parents: async (group: string) => (await list(group, 'parents')).map(groupName),
	};
}

const onBudget = { resource: 'document', resource_instance: 'budget', role: 'viewer', tenant: 'acme' };

function groupName({ group_resource_type_key, group_instance_key }: Loose): string {
	return `${group_resource_type_key}:${group_instance_key}`;
}

journey('a complete example: a group, a role, members added before and after, a nested group', async (t, place) => {
	await furnish(place);
	const { http, schema, facts } = place;
	const groups = groupsClient(place);
	const before = await readContents(place);
	const ledger = await openLedger(t, place);

	const made = await ledger.wrote(await groups.create('admins'));
	t.like(made, { group_resource_type_key: 'group', group_instance_key: 'admins', group_tenant: 'acme' });
	t.deepEqual([made['assigned_roles'], made['users']], [[], []]);
	const { body: instance } = await http.get(`${facts}/resource_instances/group:admins`);
	t.like(instance, { id: made['id'], tenant: 'acme', resource: 'group' });
	t.deepEqual((await newestChanges(place)).toSorted(), [
		'create group group:admins',
		'create resource group',
		'create resource_instance group:admins',
		'create role group:member',
	]);

	const ann = await http.get(`${facts}/users/ann`);
	t.deepEqual((await ledger.wrote(await groups.add('group:admins', 'ann')))['users'], [ann.body['id']]);
	t.deepEqual(await derivedIn(place), ['ann#member@group:admins']);
	const given = await ledger.wrote(await groups.give('group:admins', {}));
	t.deepEqual(given['assigned_roles'], ['document:budget#viewer']);
	t.deepEqual((await newestChanges(place)).toSorted(), [
		'create relation document:viewer_group',
		'create relationship_tuple document:budget#viewer_group@group:admins',
		'update role document:viewer',
	]);
	await ledger.wrote(await groups.add('group:admins', 'ben'));
	t.deepEqual(await groups.users('group:admins'), ['ann', 'ben']);
	t.deepEqual(await groups.roles('group:admins'), ['document:budget#viewer']);
	const both = ['ann#member@group:admins', 'ann#viewer@document:budget', 'ben#member@group:admins'];
	t.deepEqual(await derivedIn(place), [...both, 'ben#viewer@document:budget']);

	await ledger.wrote(await groups.create('interns'));
	await ledger.wrote(await groups.add('group:interns', 'cy'));
	await ledger.wrote(await groups.nest('group:admins', 'group:interns'));
	t.deepEqual(await groups.children('group:admins'), ['group:interns']);
	t.deepEqual(await groups.parents('group:interns'), ['group:admins']);
	t.deepEqual([await groups.parents('group:admins'), await groups.children('group:interns')], [[], []]);
	t.deepEqual(await groups.roles('group:interns'), ['group:admins#member']);
	t.true((await derivedIn(place)).includes('cy#viewer@document:budget'));

	// Removes each link in turn.
	await ledger.wrote(await groups.release('group:admins', 'group:interns'), 204);
	t.deepEqual(await groups.children('group:admins'), []);
	t.false((await derivedIn(place)).includes('cy#viewer@document:budget'));
	await ledger.wrote(await groups.drop('group:admins', 'ben', { tenant: 'acme' }), 204);
	t.deepEqual(await groups.users('group:admins'), ['ann']);
	t.deepEqual(
		(await derivedIn(place)).join(),
		`ann#member@group:admins,ann#viewer@document:budget,cy#member@group:interns`,
	);
	await ledger.wrote(await groups.take('group:admins', {}), 204);
	t.deepEqual(await groups.roles('group:admins'), []);
	t.deepEqual(await derivedIn(place), ['ann#member@group:admins', 'cy#member@group:interns']);
	await ledger.wrote(await groups.remove('group:admins'), 204);
	fails(t, await http.get(`${schema}/groups/direct/group:admins`), 404, 'group:admins');
	t.deepEqual(await derivedIn(place), ['cy#member@group:interns']);
	await ledger.wrote(await groups.remove('group:interns'), 204);
	t.deepEqual(await readContents(place), before, 'objects created for groups were deleted with the last group');
	await ledger.balanced();
});

journey('every list and both formats show a group in the same way, by key and by id', async (t, place) => {
	await furnish(place);
	const { http, schema } = place;
	const groups = groupsClient(place);
	for (const key of ['one', 'two', 'three']) await groups.create(key);
	await groups.create('one', { group_resource_type_key: 'team' });
	await groups.create('four', { group_tenant: 'globex' });
	await groups.add('group:one', 'ann');
	await groups.give('group:one', {});

	const path = `${schema}/groups`;
	const all = (await http.get<Paginated>(`${path}/direct`)).body;
	t.deepEqual(all.data.map(groupName), ['group:one', 'group:two', 'group:three', 'team:one', 'group:four']);
	t.deepEqual([all.total_count, all.page_count], [5, 1]);
	t.deepEqual(Object.keys(all.data[0] ?? {}).sort(), [
		'group_instance_key',
		'group_resource_type_key',
		'group_tenant',
		'id',
	]);
	const second = (await http.get<Paginated>(`${path}/direct?page=2&per_page=2`)).body;
	t.deepEqual(shape(second), { ...shape(second), total_count: 5, page_count: 3 });
	t.deepEqual(second.data.map(groupName), ['group:three', 'team:one']);
	for (const [filter, names] of Object.entries({
		'tenant=globex': ['group:four'],
		'tenant=nobody': [],
		'resource=team': ['team:one'],
		'resource=document': [],
		'search=one': ['group:one', 'team:one'],
		'search=group:t*': ['group:two', 'group:three'],
		'search=one&resource=group&tenant=acme': ['group:one'],
	})) {
		const { body } = await http.get<Paginated>(`${path}/direct?${filter}`);
		t.deepEqual(body.data.map(groupName), names, filter);
		const old = await http.get<readonly Loose[]>(`${path}?${filter}`);
		t.deepEqual(old.body.map(groupName), names, `deprecated: ${filter}`);
	}

	const id = String(all.data[0]?.['id']);
	for (const reference of ['group:one', id, id.replaceAll('-', '').toUpperCase()]) {
		t.deepEqual((await http.get(`${path}/direct/${reference}`)).body, all.data[0]);
		const old = await http.get<Loose>(`${path}/${reference}`);
		t.deepEqual(old.body, { ...all.data[0], assigned_roles: ['document:budget#viewer'], users: old.body['users'] });
		t.is((old.body['users'] as readonly string[]).length, 1);
		for (const part of ['roles', 'users']) {
			t.is((await http.get<Paginated>(`${path}/${reference}/${part}`)).body.total_count, 1, part);
		}
	}
	const counted = (await http.get<Paginated>(`${path}?include_total_count=true&per_page=2`)).body;
	t.deepEqual([counted.total_count, counted.page_count, counted.data.length], [5, 3, 2]);
	for (const wrong of ['group:nobody', 'document:budget', 'nobody:one', '00000000-0000-4000-8000-000000000000'])
		for (const part of ['', '/roles', '/users', '/children', '/parents'])
			fails(t, await http.get(`${path}/${wrong}${part}`), 404, wrong);
});

journey('a key alone refers to an instance of the resource `group`, whatever else has this key', async (t, place) => {
	await furnish(place);
	const { http, schema, facts } = place;
	const groups = groupsClient(place);
	for (const key of ['eng', 'ops']) await groups.create(key);
	await groups.create('red', { group_resource_type_key: 'team' });
	for (const [resource, keys] of [
		['document', ['eng', 'ops', 'red']],
		['folder', ['eng']],
	] as const) {
		for (const key of keys) await http.post(`${facts}/resource_instances`, { key, resource, tenant: 'acme' });
	}
	await groups.create('eng', { group_resource_type_key: 'team' });

	const { body } = await http.get<Loose>(`${schema}/groups/direct/eng`);
	t.is(groupName(body), 'group:eng');
	t.is(
		groupName((await http.get<Loose>(`${schema}/groups/direct/red`)).body),
		'team:red',
		'the only group with this key',
	);
	t.is((await groups.add('eng', 'ann')).status, 200);
	t.is((await groups.nest('eng', 'ops')).status, 200);
	t.deepEqual(await groups.children('eng'), ['group:ops']);
	t.is((await groups.release('eng', 'ops')).status, 204);
	t.is((await groups.give('eng', {})).status, 200);
	t.deepEqual(await groups.users('group:eng'), ['ann']);
	t.is((await groups.remove('eng')).status, 204);
	t.is(groupName((await http.get<Loose>(`${schema}/groups/direct/eng`)).body), 'team:eng');
	await groups.create('eng', { group_resource_type_key: 'squad' });
	fails(t, await http.get(`${schema}/groups/direct/eng`), 400, 'several');
});

journey('a group’s roles refer to resource and instance by id and key', async (t, place) => {
	await furnish(place);
	const { http, schema, facts } = place;
	const groups = groupsClient(place);
	await groups.create('admins');
	await groups.give('group:admins', {});
	const { body: instance } = await http.get<Loose>(`${facts}/resource_instances/document:budget`);
	const { body: role } = await http.get<Loose>(`${schema}/resources/document/roles/viewer`);
	const { body } = await http.get<Paginated>(`${schema}/groups/group:admins/roles`);
	t.deepEqual(body.data, [
		{
			key: 'viewer',
			role: 'viewer',
			role_id: role['id'],
			resource: { id: instance['resource_id'], key: 'document' },
			resource_id: instance['resource_id'],
			resource_instance: { id: instance['id'], key: 'budget' },
			resource_instance_id: instance['id'],
			tenant: 'acme',
			tenant_id: instance['tenant_id'],
		},
	]);
});

journey('deprecated endpoints name their replacements', async (t, place) => {
	await furnish(place);
	const { http, schema } = place;
	await groupsClient(place).create('admins');
	const old = await http.get<unknown>(`${schema}/groups`);
	t.regex(old.headers.get('deprecation') ?? '', /^@\d+$/);
	t.is(old.headers.get('link'), `<${schema}/groups/direct>; rel="successor-version"`);
	for (const [group, status] of [
		['group:admins', 200],
		['group:nobody', 404],
	] as const) {
		const one = await http.get<unknown>(`${schema}/groups/${group}`);
		t.is(one.status, status);
		t.true(one.headers.has('deprecation'));
		const [, successor = ''] = /^<(.*)>; rel="successor-version"$/.exec(one.headers.get('link') ?? '') ?? [];
		t.is((await http.get<unknown>(successor)).status, status, successor);
	}
	for (const path of ['direct', 'direct/group:admins', 'group:admins/roles'])
		t.false((await http.get<unknown>(`${schema}/groups/${path}`)).headers.has('deprecation'), path);
	const { body } = await http.get<{ readonly paths: Readonly<Record<string, Loose>> }>('/openapi.json');
	const of = (end: string) => body.paths[`/v2/schema/{proj_id}/{env_id}/groups${end}`]?.['get'] as Loose;
	t.is(of('')['deprecated'], true);
	t.true(String(of('/{group_instance_key}')['description']).includes('/groups/direct/{group_instance_key}'));
	t.is(of('/direct')['deprecated'], undefined);
});

journey('two groups with different roles on one instance do not share them, in any order', async (t, place) => {
	await furnish(place);
	const groups = groupsClient(place);
	const before = await readContents(place);
	for (const [group, user] of [
		['viewers', 'ann'],
		['editors', 'ben'],
		['both', 'cy'],
	] as const) {
		await groups.create(group);
		await groups.add(`group:${group}`, user);
	}
	await groups.give('group:viewers', {});
	await groups.give('group:editors', { role: 'editor' });
	await groups.give('group:both', { role: 'editor', resource_instance: 'document:plan' });
	await groups.give('group:both', {});
	const onDocuments = async () => (await derivedIn(place)).filter((held) => held.includes('@document:'));
	t.deepEqual(await onDocuments(), [
		'ann#viewer@document:budget',
		'ben#editor@document:budget',
		'cy#editor@document:plan',
		'cy#viewer@document:budget',
	]);
	t.is((await groups.take('group:viewers', {})).status, 204);
	t.deepEqual(await groups.roles('group:both'), ['document:budget#viewer', 'document:plan#editor']);
	t.is((await groups.take('group:editors', { role: 'editor' })).status, 204);
	t.deepEqual(await onDocuments(), ['cy#editor@document:plan', 'cy#viewer@document:budget']);
	for (const group of ['viewers', 'editors', 'both']) t.is((await groups.remove(`group:${group}`)).status, 204);
	t.deepEqual(await readContents(place), before);
});

interface Refusal {
	readonly ask: (groups: ReturnType<typeof groupsClient>) => Promise<Answer<unknown>>;
	readonly status: number;
	readonly says: string;
}

const refusals: Readonly<Record<string, Refusal>> = {
	'the group already exists': { ask: ({ create }) => create('admins'), status: 409, says: 'group:admins' },
	'the group already exists in a different tenant': {
		ask: ({ create }) => create('admins', { group_tenant: 'globex' }),
		status: 409,
		says: 'group:admins',
	},
	'an instance in a different tenant': {
		ask: ({ create }) => create('secret', { group_resource_type_key: 'document' }),
		status: 400,
		says: 'globex',
	},
	'a tenant that does not exist': {
		ask: ({ create }) => create('new', { group_resource_type_key: 'team', group_tenant: 'nobody' }),
		status: 404,
		says: 'nobody',
	},
	'rule 1: a full group name without an instance': {
		ask: ({ add }) => add('group:budget', 'ann'),
		status: 404,
		says: 'group:budget',
	},
	'rule 2: an instance in a different tenant': {
		ask: ({ give }) => give('group:admins', { resource_instance: 'secret', tenant: 'acme' }),
		status: 400,
		says: 'document:secret',
	},
	'rule 2: a tenant that is not the group’s': {
		ask: ({ give }) => give('group:admins', { resource_instance: 'secret', tenant: 'globex' }),
		status: 400,
		says: 'group:admins',
	},
	'rule 2: a user in a different tenant': {
		ask: ({ add }) => add('group:admins', 'ann', { tenant: 'globex' }),
		status: 400,
		says: 'globex',
	},
	'rule 2: a group in a different tenant': {
		ask: ({ nest }) => nest('group:admins', 'group:others'),
		status: 400,
		says: 'group:others',
	},
	'rule 3: a group with a different resource': {
		ask: ({ nest }) => nest('group:admins', 'team:red'),
		status: 400,
		says: 'team:red',
	},
	'rule 3: an instance that is not a group': {
		ask: ({ nest }) => nest('group:admins', 'group:plain'),
		status: 404,
		says: 'group:plain',
	},
	'a group in itself': { ask: ({ nest }) => nest('group:admins', 'group:admins'), status: 400, says: 'group:admins' },
	'a group in itself, as a role': {
		ask: ({ give }) => give('group:admins', { resource: 'group', resource_instance: 'admins', role: 'member' }),
		status: 400,
		says: 'group:admins',
	},
	'rule 6: a role that does not exist': {
		ask: ({ give }) => give('group:admins', { role: 'nobody' }),
		status: 404,
		says: 'nobody',
	},
	'rule 6: a role on a different resource': {
		ask: ({ give }) => give('group:admins', { role: 'owner' }),
		status: 404,
		says: 'owner',
	},
	'rule 6: a tenant role': { ask: ({ give }) => give('group:admins', { role: 'admin' }), status: 404, says: 'admin' },
	'rule 6: a role on the group itself': {
		ask: ({ give }) => give('group:admins', { role: 'member' }),
		status: 404,
		says: 'member',
	},
	'an instance with a different resource': {
		ask: ({ give }) => give('group:admins', { resource_instance: 'finance' }),
		status: 400,
		says: 'folder',
	},
	'a full instance name with a different resource': {
		ask: ({ give }) => give('group:admins', { resource_instance: 'folder:finance' }),
		status: 400,
		says: 'folder:finance',
	},
	'an instance that does not exist': {
		ask: ({ give }) => give('group:admins', { resource_instance: 'nothing' }),
		status: 404,
		says: 'nothing',
	},
	'a resource that does not exist': {
		ask: ({ give }) => give('group:admins', { resource: 'nothing' }),
		status: 404,
		says: 'nothing',
	},
	'a role that the group has': { ask: ({ give }) => give('group:admins', {}), status: 409, says: 'budget#viewer' },
	'a role that the group does not have': {
		ask: ({ take }) => take('group:admins', { role: 'editor' }),
		status: 404,
		says: 'budget#editor',
	},
	'a user that does not exist': { ask: ({ add }) => add('group:admins', 'nobody'), status: 404, says: 'nobody' },
	'a user without a tenant': { ask: ({ add }) => add('group:admins', 'ann', {}), status: 422, says: 'tenant' },
	'a user who is not a member': { ask: ({ drop }) => drop('group:admins', 'ben'), status: 404, says: 'ben' },
	'a member in a different tenant': {
		ask: ({ drop }) => drop('group:admins', 'ann', { tenant: 'globex' }),
		status: 400,
		says: 'globex',
	},
	'a group that is not nested in this group': {
		ask: ({ release }) => release('group:admins', 'group:staff'),
		status: 404,
		says: 'group:staff',
	},
	'the deletion of an instance that is not a group': {
		ask: ({ remove }) => remove('document:budget'),
		status: 404,
		says: 'document:budget',
	},
	'an instance key that contains a type': {
		ask: ({ create }) => create('group:new'),
		status: 422,
		says: 'group:new',
	},
};

journey('an invalid request is rejected with the reason, and nothing is written', async (t, place) => {
	await furnish(place);
	const groups = groupsClient(place);
	for (const key of ['admins', 'staff']) await groups.create(key);
	await groups.create('others', { group_tenant: 'globex' });
	await groups.create('red', { group_resource_type_key: 'team' });
	const plain = { key: 'plain', resource: 'group', tenant: 'acme' };
	t.is((await place.http.post(`${place.facts}/resource_instances`, plain)).status, 200);
	await groups.add('group:admins', 'ann');
	await groups.give('group:admins', {});
	const [before, revision] = [await readContents(place), await place.revision()];
	for (const [what, { ask, status, says }] of Object.entries(refusals)) {
		fails(t, await ask(groups), status, says);
		t.is(await place.revision(), revision, what);
	}
	t.deepEqual(await readContents(place), before);
});

journey('repeated requests change nothing, and a user without a tenant can leave a group', async (t, place) => {
	await furnish(place);
	const groups = groupsClient(place);
	for (const key of ['a', 'b']) await groups.create(key);
	const ledger = await openLedger(t, place);
	await ledger.wrote(await groups.add('group:a', 'ann'));
	await ledger.kept(await groups.add('group:a', 'ann'));
	await ledger.wrote(await groups.nest('group:a', 'group:b'));
	await ledger.kept(await groups.nest('group:a', 'group:b'));
	// Groups may contain each other. In that case, both groups have all members.
	await ledger.wrote(await groups.nest('group:b', 'group:a'));
	t.deepEqual([await groups.children('group:a'), await groups.parents('group:a')], [['group:b'], ['group:b']]);
	t.deepEqual(await derivedIn(place), ['ann#member@group:a', 'ann#member@group:b']);
	await ledger.wrote(await groups.release('group:a', 'group:b'), 204);
	t.deepEqual(await groups.parents('group:a'), ['group:b']);
	await ledger.wrote(await groups.drop('group:a', 'ann'), 204);
	t.deepEqual(await derivedIn(place), []);
	await ledger.balanced();
});

journey('existing objects are kept, and so are objects that are used elsewhere', async (t, place) => {
	await furnish(place);
	const { http, schema, facts } = place;
	const groups = groupsClient(place);
	const roles = { member: { name: 'M' }, lead: { name: 'L' } };
	await http.post(`${schema}/resources`, { key: 'team', name: 'Team', actions: {}, roles });
	await http.post(`${facts}/resource_instances`, { key: 'red', resource: 'team', tenant: 'acme' });
	await http.post(`${facts}/role_assignments`, { user: 'ben', role: 'lead', resource_instance: 'team:red' });
	const before = await readContents(place);
	const ofTeam = { group_resource_type_key: 'team' };
	const made = await groups.create('red', ofTeam);
	t.is(made.status, 200);
	t.deepEqual(await newestChanges(place), ['create group team:red']);
	await groups.create('blue', ofTeam);
	await groups.add('team:red', 'ann');
	await groups.give('team:red', {});
	await groups.nest('team:red', 'team:blue');
	t.is((await groups.remove('team:red')).status, 204);
	t.is((await groups.remove('team:blue')).status, 204);
	t.deepEqual(await readContents(place), before);

	// These objects were created for groups, but have since been used for other purposes.
	await groups.create('admins');
	await groups.give('group:admins', {});
	await groups.give('group:admins', { role: 'editor' });
	await http.post(`${facts}/resource_instances`, { key: 'plain', resource: 'group', tenant: 'acme' });
	const tuple = { subject: 'group:plain', relation: 'viewer_group', object: 'document:plan' };
	t.is((await http.post(`${facts}/relationship_tuples`, tuple)).status, 200);
	t.is((await groups.remove('group:admins')).status, 204);
	const left = (await readContents(place)).filter((word) => !before.includes(word));
	t.deepEqual(left, [
		'document:viewer from group:member by viewer_group',
		'relation document:viewer_group',
		'relationship_tuple document:plan#viewer_group@group:plain',
		'resource group',
		'resource_instance group:plain',
		'role group:member',
	]);
	// The next removal also deletes the objects that have become unused.
	t.is((await http.delete(`${facts}/resource_instances/group:plain`)).status, 204);
	await groups.create('admins');
	t.is((await groups.remove('group:admins')).status, 204);
	t.deepEqual(await readContents(place), before);
});

journey('a role is given through a relation that gives only this role, or through a new relation', async (t, place) => {
	await furnish(place);
	const { http, schema, facts } = place;
	const groups = groupsClient(place);
	await groups.create('admins');
	await groups.add('group:admins', 'ann');
	const document = `${schema}/resources/document`;
	for (const key of ['viewer_group', 'reader'])
		await http.post(`${document}/relations`, { key, name: key, subject_resource: 'group' });
	const rule = { role: 'member', on_resource: 'group' };
	const derive = (role: string, linked_by_relation: string) =>
		http.post(`${document}/roles/${role}/implicit_grants`, { ...rule, linked_by_relation });
	await derive('viewer', 'reader');
	await groups.give('group:admins', {});
	const tuples = async () =>
		(await http.get<readonly Loose[]>(`${facts}/relationship_tuples`)).body.map(({ relation }) => relation);
	t.deepEqual(await tuples(), ['reader']);
	// From now on, the relation gives more than its own role, so it no longer belongs to groups.
	await derive('editor', 'reader');
	t.deepEqual(await groups.roles('group:admins'), ['document:budget#viewer', 'document:budget#editor']);
	fails(t, await groups.take('group:admins', {}), 400, 'reader');
	await groups.give('group:admins', { resource_instance: 'plan' });
	t.deepEqual(await tuples(), ['reader', 'viewer_group_2']);
	t.deepEqual(
		(await derivedIn(place)).filter((held) => held.endsWith('plan')),
		['ann#viewer@document:plan'],
	);
	t.is(
		(await http.delete(`${document}/roles/editor/implicit_grants`, { ...rule, linked_by_relation: 'reader' })).status,
		204,
	);
	t.is((await groups.take('group:admins', {})).status, 204);
	t.deepEqual(await tuples(), ['viewer_group_2']);
	t.is((await http.get(`${document}/relations/reader`)).status, 200, 'it belongs to a different object');
});

/** Deletions outside the groups API, each with the group's remaining roles, users and children. */
const elsewhere: readonly (readonly [path: string, body: object | undefined, left: readonly unknown[]])[] = [
	[
		'facts/relationship_tuples',
		{ subject: 'group:admins', relation: 'viewer_group', object: 'document:budget' },
		[[], ['ann'], ['group:staff']],
	],
	['schema/resources/document/relations/viewer_group', undefined, [[], ['ann'], ['group:staff']]],
	['schema/resources/document/roles/viewer', undefined, [[], ['ann'], ['group:staff']]],
	['schema/resources/document', undefined, [[], ['ann'], ['group:staff']]],
	['facts/resource_instances/document:budget', undefined, [[], ['ann'], ['group:staff']]],
	['facts/resource_instances/group:staff', undefined, [['document:budget#viewer'], ['ann'], []]],
	['facts/users/ann', undefined, [['document:budget#viewer'], [], ['group:staff']]],
	['schema/resources/group/relations/member_group', undefined, [['document:budget#viewer'], ['ann'], []]],
	['schema/resources/group/roles/member', undefined, [[], [], []]],
];

journey('after deletions outside the groups API, the group still works', async (t, place, { project }) => {
	for (const [index, [path, body, left]] of elsewhere.entries()) {
		const [half = '', ...rest] = path.split('/');
		const key = `${place.key}-${index}`;
		await project.post(`/v2/projects/${place.project}/envs`, { key, name: key });
		const here = {
			...place,
			http: project,
			key,
			schema: `/v2/schema/default/${key}`,
			facts: `/v2/facts/default/${key}`,
		};
		await furnish(here);
		const groups = groupsClient(here);
		for (const group of ['admins', 'staff']) await groups.create(group);
		await groups.add('group:admins', 'ann');
		await groups.give('group:admins', {});
		await groups.nest('group:admins', 'group:staff');
		t.is((await project.delete(`/v2/${half}/default/${key}/${rest.join('/')}`, body)).status, 204, path);
		const lists = [groups.roles, groups.users, groups.children];
		t.deepEqual(await Promise.all(lists.map((list) => list('group:admins'))), left, path);
		const again = [await groups.add('group:admins', 'ben'), await groups.create('new')];
		again.push(
			await groups.nest('group:admins', 'group:new'),
			await groups.give('group:admins', { resource_instance: 'plan' }),
		);
		const gone = /document$|viewer$/.test(path) ? 404 : 200;
		t.deepEqual(
			again.map(({ status }) => status),
			[200, 200, 200, gone],
			path,
		);
		t.true((await groups.users('group:admins')).includes('ben'), path);
		t.is((await groups.remove('group:admins')).status, 204, path);
	}
});

journey('a group is deleted with its instance, resource or tenant, and the history records it', async (t, place) => {
	await furnish(place);
	const { http, schema, facts } = place;
	const groups = groupsClient(place);
	for (const [path, body] of [
		[`${facts}/resource_instances/group:admins`, undefined],
		[`${facts}/bulk/resource_instances`, { idents: ['group:admins'] }],
		[`${schema}/resources/group`, undefined],
		[`${facts}/tenants/acme`, undefined],
	] as const) {
		if (path.endsWith('acme')) await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
		t.is((await groups.create('admins')).status, 200, path);
		await groups.add('group:admins', 'ann');
		t.true([200, 204].includes((await http.delete(path, body)).status), path);
		t.true((await newestChanges(place)).includes('delete group group:admins'), path);
		fails(t, await http.get(`${schema}/groups/group:admins`), 404, 'group:admins');
		t.is((await http.get<Paginated>(`${schema}/groups/direct`)).body.total_count, 0);
	}
});

journey('groups survive export and import; a copy has only their schema', async (t, place, management) => {
	await furnish(place);
	const groups = groupsClient(place);
	const before = await readContents(place);
	for (const key of ['admins', 'interns']) await groups.create(key);
	await groups.create('plan', { group_resource_type_key: 'document' });
	await groups.add('group:admins', 'ann');
	await groups.add('group:interns', 'cy');
	await groups.nest('group:admins', 'group:interns');
	await groups.give('group:admins', {});
	await groups.give('document:plan', { role: 'editor' });
	const { http, project, key } = place;
	type Exported = { readonly facts: Loose };
	const { body: document } = await http.get<Exported>(`/v2/projects/${project}/envs/${key}/export`);
	t.deepEqual(document.facts['groups'], {
		'document:plan': {},
		'group:admins': { made_instance: true },
		'group:interns': { made_instance: true },
	});
	t.deepEqual(document.facts['made_for_groups'], [
		{ resource: 'document', relation: 'editor_document' },
		{ resource: 'document', relation: 'viewer_group' },
		{ resource: 'document', role: 'member' },
		{ resource: 'group' },
		{ resource: 'group', relation: 'member_group' },
		{ resource: 'group', role: 'member' },
	]);

	const other = await newPlace(management, management.project);
	const path = `/v2/projects/${project}/envs/${other.key}`;
	const report = await other.http.post(`${path}/import?conflict_strategy=replace`, document);
	t.is(report.status, 200, JSON.stringify(report.body));
	t.deepEqual(await readContents(other), await readContents(place));
	t.deepEqual(await derivedIn(other), await derivedIn(place));
	const others = groupsClient(other);
	t.deepEqual(await others.children('group:admins'), ['group:interns']);
	for (const group of ['group:admins', 'group:interns', 'document:plan'])
		t.is((await others.remove(group)).status, 204);
	t.deepEqual(await readContents(other), before, 'the copy also marks objects created for groups');

	const copied = { target_env: { new: { key: `${key}-copy`, name: 'Copy' } } };
	t.is((await management.project.post(`/v2/projects/${project}/envs/${key}/copy`, copied)).status, 201);
	const copy = { ...place, http: management.project, key: `${key}-copy` };
	const ofCopy = { ...copy, schema: `/v2/schema/default/${copy.key}`, facts: `/v2/facts/default/${copy.key}` };
	const schema = (words: readonly string[]) => words.filter((word) => /^(resource|role|relation) |from/.test(word));
	t.deepEqual(schema(await readContents(ofCopy)), schema(await readContents(place)));
	t.false((await readContents(ofCopy)).some((word) => word.startsWith('group ')));
	// A relation for the role already exists, so no relation is created.
	await ofCopy.http.post(`${ofCopy.facts}/tenants`, { key: 'acme', name: 'Acme' });
	await ofCopy.http.post(`${ofCopy.facts}/resource_instances`, { key: 'budget', resource: 'document', tenant: 'acme' });
	await groupsClient(ofCopy).create('admins');
	t.is((await groupsClient(ofCopy).give('group:admins', {})).status, 200);
	t.deepEqual(schema(await readContents(ofCopy)), schema(await readContents(place)));
});

journey('keys can have the maximum length and unusual characters', async (t, place) => {
	await furnish(place);
	const { http, schema, facts } = place;
	const groups = groupsClient(place);
	const [long, other] = ['k'.repeat(512), `${'k'.repeat(511)}x`];
	for (const [role, type] of [
		[long, long],
		[other, long],
		['_', 'proto__'],
		['a_b', 'c'],
		['a', 'b_c'],
	] as const) {
		await http.post(`${schema}/resources/document/roles`, { key: role, name: 'R' });
		const made = await groups.create(long, { group_resource_type_key: type });
		const group = made.status === 200 ? String(made.body['id']) : `${type}:${long}`;
		const given = await groups.give(group, { role });
		t.is(given.status, 200, JSON.stringify(given.body).slice(0, 200));
		t.true((await groups.roles(group)).includes(`document:budget#${role}`));
	}
	await groups.add(`c:${long}`, 'ann');
	t.deepEqual(await derivedIn(place), ['ann#a_b@document:budget', `ann#member@c:${long}`]);
	const relations = await http.get<Paginated>(`${schema}/resources/document/relations`);
	t.is(relations.body.total_count, 5, 'one for each role and type');
	const path = `/v2/projects/${place.project}/envs/${place.key}`;
	const document = (await http.get<unknown>(`${path}/export`)).body;
	const ledger = await openLedger(t, place);
	await ledger.kept(await http.post(`${path}/import`, document));
	t.is((await http.get<readonly Loose[]>(`${facts}/relationship_tuples`)).body.length, 5);
});

journey('a large group is shown without its users, which are listed separately in pages', async (t, place) => {
	await furnish(place);
	const { http, schema, facts } = place;
	const groups = groupsClient(place);
	const { body: made } = await groups.create('all');
	await groups.create('few');
	await groups.add('group:few', 'ann');
	const join = async (from: number, to: number) => {
		const users = Array.from({ length: to - from }, (_, index) => `user-${from + index}`);
		const body = users.map((user) => ({ user, role: 'member', resource_instance: 'group:all' }));
		const answer = await http.post<unknown>(`${facts}/role_assignments/bulk?missing_user_policy=create`, body);
		t.is(answer.status, 200);
	};
	await join(0, 1000);
	const ofAll = async () => (await http.get<Loose>(`${schema}/groups/${made['id']}`)).body;
	t.is(((await ofAll())['users'] as readonly unknown[]).length, 1000);
	await join(1000, 1001);
	const { users: _, ...withoutUsers } = made;
	t.deepEqual(await ofAll(), withoutUsers);
	const listed = (await http.get<readonly Loose[]>(`${schema}/groups`)).body;
	t.deepEqual(
		listed.map((group) => [groupName(group), (group['users'] as readonly unknown[] | undefined)?.length]),
		[
			['group:all', undefined],
			['group:few', 1],
		],
	);
	const page = (await http.get<Paginated>(`${schema}/groups/group:all/users?page=11&per_page=100`)).body;
	t.deepEqual([page.total_count, page.page_count, page.data.length], [1001, 11, 1]);
	t.is((await groups.remove('group:all')).status, 204);
	const left = await http.get<Paginated>(`${facts}/role_assignments?include_total_count=true`);
	t.is(left.body.total_count, 1, 'memberships were deleted with the group');
});
