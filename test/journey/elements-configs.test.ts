// @rest

import { onEachStore } from '../support/each-store.js';
import { bearing, furnishElements } from '../support/element.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import type { Place } from '../support/management.js';

/** Elements: configs for embedded pages, with role levels. */

const journey = onEachStore();

const members = {
	key: 'members',
	name: 'Members',
	elements_type: 'user_management',
	settings: {},
	roles_to_levels: {},
};
const requests = {
	key: 'requests',
	name: 'Requests',
	elements_type: 'approval_flow',
	settings: {},
	roles_to_levels: {},
};

/** Creates two tenant roles and three resource roles. Returns the ids, keyed by name. */
async function makeRoles({ http, schema }: Place): Promise<Readonly<Record<string, string>>> {
	const made = async (path: string, key: string) =>
		String((await http.post(`${schema}/${path}`, { key, name: key })).body['id']);
	for (const key of ['document', 'folder']) await http.post(`${schema}/resources`, { key, name: key, actions: {} });
	return {
		owner: await made('roles', 'owner'),
		member: await made('roles', 'member'),
		'document#viewer': await made('resources/document/roles', 'viewer'),
		'folder#viewer': await made('resources/folder/roles', 'viewer'),
		'folder#keeper': await made('resources/folder/roles', 'keeper'),
	};
}

/** Returns the role keys in a response, keyed by level. */
function keysByLevel(body: Readonly<Record<string, unknown>>): Readonly<Record<string, readonly string[]>> {
	const levels = body['roles_to_levels'] as Readonly<Record<string, readonly { readonly key: string }[]>>;
	return Object.fromEntries(
		Object.entries(levels).flatMap(([level, roles]) =>
			roles.length === 0 ? [] : [[level, roles.map(({ key }) => key)]],
		),
	);
}

journey('an element can be created, read under its names, updated and deleted', async (t, place) => {
	const { http, elements } = place;
	const ids = await makeRoles(place);
	const ledger = await openLedger(t, place);
	const path = `${elements}/config`;
	const made = await ledger.wrote(
		await http.post(path, {
			...members,
			settings: { default_role: 'member', show_add_user: true, columns: 3 },
			roles_to_levels: { LEVEL_1: ['owner'], LEVEL_2: [ids['folder#keeper']], LEVEL_3: ['document#viewer'] },
			webhook: { url: 'https://app.example.com/hook', bearer_token: 'secret-of-the-hook' },
		}),
	);
	t.like(made, {
		key: 'members',
		name: 'Members',
		elements_type: 'user_management',
		settings: { default_role: 'member', show_add_user: true, columns: 3 },
		environment_id: place.id,
		is_active: false,
		email_notifications: false,
		webhook: { type: 'elements', url: 'https://app.example.com/hook', environment_id: place.id },
	});
	t.deepEqual(made['roles_to_levels'], {
		LEVEL_1: [{ id: ids['owner'], key: 'owner', name: 'owner', resource_id: null }],
		LEVEL_2: [
			{ id: ids['folder#keeper'], key: 'keeper', name: 'keeper', resource_id: await resourceId(place, 'folder') },
		],
		LEVEL_3: [
			{ id: ids['document#viewer'], key: 'viewer', name: 'viewer', resource_id: await resourceId(place, 'document') },
		],
		LEVEL_4: [],
		HIDDEN: [],
		UNCONFIGURED: [],
	});
	t.false(JSON.stringify(made).includes('secret-of-the-hook'));
	for (const name of ['members', String(made['id']), String(made['id']).replaceAll('-', '')]) {
		t.deepEqual(await ledger.read(await http.get(`${path}/${name}`)), made, name);
	}
	t.deepEqual(await ledger.read(await http.get<unknown>(path)), { data: [made], total_count: 1, page_count: 1 });
	fails(t, await http.post(path, members), 409, 'members');
	const same = { webhook: { url: 'https://app.example.com/hook', bearer_token: 'secret-of-the-hook' } };
	for (const nothing of [{}, same, { name: null, settings: null }, { key: 'other', elements_type: 'audit_log' }]) {
		t.deepEqual(await ledger.kept(await http.patch(`${path}/members`, nothing)), made, JSON.stringify(nothing));
	}
	const changed = await ledger.wrote(
		await http.patch(`${path}/members`, {
			name: 'People',
			roles_to_levels: { LEVEL_1: ['owner'], LEVEL_4: ['keeper'], UNCONFIGURED: ['document#viewer'] },
			webhook: null,
		}),
	);
	t.like(changed, { name: 'People', webhook: null, settings: made['settings'] });
	t.deepEqual(keysByLevel(changed), { LEVEL_1: ['owner'], LEVEL_4: ['keeper'] });
	await ledger.wrote(await http.delete(`${elements}/members`), 204);
	for (const method of ['GET', 'PATCH', 'DELETE']) {
		fails(t, await http.send(method, `${path}/members`, method === 'PATCH' ? {} : undefined), 404, 'ElementsConfig');
	}
	await ledger.wrote(await http.post(path, members));
	await ledger.wrote(await http.delete(`${path}/members`), 204);
	await ledger.balanced();
});

async function resourceId({ http, schema }: Place, key: string): Promise<string> {
	return String((await http.get(`${schema}/resources/${key}`)).body['id']);
}

/** Rejected levels, each with the status and the message. */
const wrongLevels: readonly (readonly [levels: unknown, status: number, says: string])[] = [
	[{ LEVEL_5: ['owner'] }, 422, 'LEVEL_1 to LEVEL_4'],
	[{ LEVEL_1: 'owner' }, 422, 'roles_to_levels'],
	[{ LEVEL_1: ['owner'], LEVEL_2: ['owner'] }, 422, 'already has the level LEVEL_1'],
	[{ LEVEL_1: ['nobody'] }, 404, 'nobody'],
	[{ LEVEL_1: ['document#keeper'] }, 404, 'document#keeper'],
	[{ LEVEL_1: ['nowhere#viewer'] }, 404, 'nowhere#viewer'],
	[{ LEVEL_1: ['viewer'] }, 400, 'several resources'],
];

journey('a role in a level must exist, and can have only one level', async (t, place) => {
	const { http, elements } = place;
	const ids = await makeRoles(place);
	const ledger = await openLedger(t, place);
	const path = `${elements}/config`;
	for (const [roles_to_levels, status, says] of wrongLevels) {
		fails(t, await http.post(path, { ...members, roles_to_levels }), status, says);
	}
	const levels = { LEVEL_1: ['owner', 'owner', ids['owner'] ?? ''], LEVEL_2: ['keeper'] };
	const made = await ledger.wrote(await http.post(path, { ...members, roles_to_levels: levels }));
	t.deepEqual(keysByLevel(made), { LEVEL_1: ['owner'], LEVEL_2: ['keeper'] });
	await ledger.balanced();
});

journey('settings, type and webhook are validated, and problems have locations', async (t, { http, elements }) => {
	const path = `${elements}/config`;
	const wrong: readonly (readonly [body: object, place: string])[] = [
		[{ elements_type: 'dashboard' }, 'body.elements_type'],
		[{ settings: { deep: {} } }, 'body.settings.deep'],
		[{ settings: { half: 0.5 } }, 'body.settings.half'],
		[{ settings: null }, 'body.settings'],
		[{ settings: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`s${index}`, 1])) }, 'body.settings'],
		[{ webhook: { url: 'ftp://example.com' } }, 'body.webhook.url'],
		[{ webhook: { url: 'https://example.com', bearer_token: 'a\r\nx: b' } }, 'body.webhook.bearer_token'],
		[{ webhook: { url: 'https://example.com', bearer_token: '日本' } }, 'body.webhook.bearer_token'],
		[{ webhook: { url: 'https://example.com', type: 'pdp_sync_error' } }, 'body.webhook.type'],
		[{ roles_to_levels: null }, 'body.roles_to_levels'],
	];
	for (const [body, at] of wrong) {
		t.deepEqual(problemPlaces(await http.post(path, { ...members, ...body })), [at], JSON.stringify(body));
	}
});

journey('a request element and its user management element refer to each other', async (t, place) => {
	const { http, elements } = place;
	const ledger = await openLedger(t, place);
	const path = `${elements}/config`;
	const settingsOf = async (key: string) => (await ledger.read(await http.get(`${path}/${key}`)))['settings'];
	await ledger.wrote(await http.post(path, { ...members, settings: { title: 'People' } }));
	await ledger.wrote(await http.post(path, { ...members, key: 'others' }));
	for (const user_management_element of ['nobody', 'requests', 7]) {
		const refused = await http.post(path, { ...requests, settings: { user_management_element } });
		t.deepEqual(problemPlaces(refused), ['body.settings.user_management_element']);
	}
	await ledger.wrote(await http.post(path, { ...requests, settings: { user_management_element: 'members' } }));
	t.deepEqual(await settingsOf('members'), { title: 'People', access_request_element: 'requests' });
	const second = { ...requests, key: 'second', settings: { user_management_element: 'members' } };
	fails(t, await http.post(path, second), 400, 'already');
	await ledger.wrote(await http.patch(`${path}/requests`, { settings: { user_management_element: 'others' } }));
	t.deepEqual(await settingsOf('members'), { title: 'People' });
	t.deepEqual(await settingsOf('others'), { access_request_element: 'requests' });
	await ledger.wrote(await http.delete(`${elements}/others`), 204);
	t.deepEqual(await settingsOf('requests'), {});
	await ledger.wrote(await http.patch(`${path}/requests`, { settings: { user_management_element: 'members' } }));
	await ledger.wrote(await http.delete(`${elements}/requests`), 204);
	t.deepEqual(await settingsOf('members'), { title: 'People' });
	await ledger.balanced();
});

journey('an operation approval element creates the roles of its resource', async (t, place) => {
	const { http, elements, schema } = place;
	const ledger = await openLedger(t, place);
	const path = `${elements}/config`;
	await ledger.wrote(
		await http.post(`${schema}/resources`, { key: 'account', name: 'Account', actions: { read: {} } }),
	);
	const approvals = { ...requests, key: 'approvals', elements_type: 'operation_approval' };
	t.deepEqual(problemPlaces(await http.post(path, { ...approvals, settings: { resource: 'nothing' } })), [
		'body.settings.resource',
	]);
	await ledger.wrote(await http.post(path, { ...approvals, settings: { resource: 'account' } }));
	const roles = await ledger.read(
		await http.get<readonly Record<string, unknown>[]>(`${schema}/resources/account/roles`),
	);
	t.deepEqual(
		roles.map(({ key, permissions }) => [key, permissions]),
		[
			['_Reviewer_', []],
			['_Approved_', ['operate']],
		],
	);
	await ledger.wrote(await http.delete(`${elements}/approvals`), 204);
	await ledger.wrote(await http.post(path, { ...approvals, settings: { resource: 'account' } }));
	t.is((await http.get<readonly unknown[]>(`${schema}/resources/account/roles`)).body.length, 2);
	await ledger.balanced();
});

journey('deleting a role removes its levels, and the log records this', async (t, place) => {
	const { http, elements, schema } = place;
	await makeRoles(place);
	const ledger = await openLedger(t, place);
	const path = `${elements}/config`;
	const levels = { LEVEL_1: ['owner', 'document#viewer'], LEVEL_4: ['member'] };
	await ledger.wrote(await http.post(path, { ...members, roles_to_levels: levels }));
	await ledger.wrote(await http.delete(`${schema}/roles/owner`), 204);
	t.deepEqual(keysByLevel((await http.get(`${path}/members`)).body), { LEVEL_1: ['viewer'], LEVEL_4: ['member'] });
	await ledger.wrote(await http.delete(`${schema}/resources/document`), 204);
	const left = (await http.get(`${path}/members`)).body;
	t.deepEqual(keysByLevel(left), { LEVEL_4: ['member'] });
	const { body } = await http.get<{ readonly data: readonly { readonly after: unknown }[] }>(
		`/v2/projects/${place.project}/envs/${place.key}/changes?kind=elements_config`,
	);
	t.like(body.data[0]?.after, { roles_to_levels: { LEVEL_1: [], LEVEL_4: ['member'] } });
	await ledger.balanced();
});

journey('an element shows users their level in the tenant and on an instance', async (t, place) => {
	await makeRoles(place);
	await furnishElements(place);
	const { http, facts, elements } = place;
	const holds = async (role: string, where: object) => {
		t.is((await http.post(`${facts}/role_assignments`, { user: 'ann', role, tenant: 'acme', ...where })).status, 200);
	};
	await http.post(`${facts}/resource_instances`, { key: 'plan', resource: 'document', tenant: 'acme' });
	const levels = { LEVEL_1: ['document#viewer'], LEVEL_3: ['owner'], HIDDEN: ['member'] };
	const webhook = { url: 'https://hooks.example.com/a-secret-of-the-application' };
	await http.post(`${elements}/config`, { ...members, roles_to_levels: levels, webhook });
	const runtime = `${elements}/config/members/runtime`;
	const level = async (query = '') => {
		const { body } = await (await bearing(place)).get(`${runtime}${query}`);
		t.like(body['config'], { key: 'members', environment_id: place.id, webhook: null });
		t.is(body['resource_id'], null, 'only users who can request a role learn about an instance');
		return body['current_permission_level'];
	};
	t.is(await level(), 'UNCONFIGURED');
	await holds('owner', {});
	t.is(await level(), 'LEVEL_3');
	await holds('viewer', { resource_instance: 'document:plan' });
	t.is(await level(), 'LEVEL_3', 'a role on an instance counts only there');
	t.is(await level('?resource_instance_id=document:plan'), 'LEVEL_1');
	t.is(await level('?resource_instance_id=document:nothing'), 'LEVEL_3');
	const ann = await bearing(place);
	// For an instance in the tenant, an access request element returns the resource with the requestable roles.
	await http.post(`${facts}/tenants`, { key: 'other', name: 'Other' });
	await http.post(`${facts}/resource_instances`, { key: 'theirs', resource: 'document', tenant: 'other' });
	await http.post(`${elements}/config`, {
		...members,
		key: 'ask',
		elements_type: 'approval_flow',
		roles_to_levels: {},
	});
	const { id: document } = (await http.get(`${place.schema}/resources/document`)).body;
	for (const [named, resource_id] of [
		['document:plan', document],
		['plan', document],
		['document:nothing', null],
		['document:theirs', null],
	]) {
		const { body } = await ann.get(`${elements}/config/ask/runtime?resource_instance_id=${named}`);
		t.is(body['resource_id'], resource_id, String(named));
	}
	fails(t, await ann.get(`${elements}/config/nothing/runtime`), 404, 'ElementsConfig');
	fails(t, await http.get(runtime), 401);
	t.is((await ann.post(`${elements}/config/members/data/active`)).status, 204);
	t.is((await http.get(`${elements}/config/members`)).body['is_active'], true);
});

journey('a user who is hidden in every element cannot sign in', async (t, place) => {
	await makeRoles(place);
	await furnishElements(place);
	const { http, facts, elements } = place;
	const hidden = { user: 'ann', role: 'member', tenant: 'acme' };
	await http.post(`${facts}/role_assignments`, hidden);
	await http.post(`${elements}/config`, { ...members, roles_to_levels: { HIDDEN: ['member'], LEVEL_2: ['owner'] } });
	const login = () => http.post('/v2/auth/elements_login_as', { user_id: 'ann', tenant_id: 'acme' });
	const refused = await login();
	fails(t, refused, 403, 'Invalid user permission level');
	t.like(refused.body, { title: 'INVALID_PERMISSION_LEVEL', additional_info: { code: 'INVALID_PERMISSION_LEVEL' } });
	await http.post(`${facts}/role_assignments`, { ...hidden, role: 'owner' });
	t.is((await login()).status, 200);
});
