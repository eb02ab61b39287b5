// @rest

import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { type Listed, listedKeys, type Paginated, shape } from '../support/listed.js';
import type { Place } from '../support/management.js';

/** Tenant roles: permission sets that users may have in tenants. */

const journey = onEachStore();

async function createDocument({ http, schema }: Place) {
	const document = { key: 'document', name: 'Document', actions: { read: {}, write: {}, print: {} } };
	return http.post<{ actions: Record<string, { id: string }> }>(`${schema}/resources`, document);
}

journey('a role is created from permissions, parents and attributes, and returned as created', async (t, place) => {
	const { http, schema } = place;
	const resource = await createDocument(place);
	const ledger = await openLedger(t, place);
	const viewer = await ledger.wrote(await http.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer' }));
	t.deepEqual([viewer['permissions'], viewer['extends']], [[], []], 'empty lists, not null');
	t.like(viewer, { description: null, attributes: null, granted_to: null });
	t.like(viewer, { v1compat_settings: null, v1compat_attributes: null, environment_id: place.id });

	const printId = resource.body.actions['print']?.id ?? '';
	const sent = { key: 'Editor-2_x', name: 'Editor', description: 'Edits', attributes: { team: 'a' } };
	const permissions = ['document:write', 'document:read', printId, printId.replaceAll('-', ''), 'document:write'];
	const links = { permissions, extends: ['viewer'] };
	const editor = await ledger.wrote(await http.post(`${schema}/roles`, { ...sent, ...links, granted_to: null }));
	t.like(editor, sent);
	t.deepEqual(
		editor['permissions'],
		['document:write', 'document:read', 'document:print'],
		'by name, in the order given',
	);
	t.deepEqual(editor['extends'], ['viewer']);
	for (const name of ['Editor-2_x', String(editor['id']), String(editor['id']).replaceAll('-', '')]) {
		t.deepEqual(await ledger.read(await http.get(`${schema}/roles/${name}`)), editor, name);
	}
	fails(t, await http.post(`${schema}/roles`, sent), 409, 'Editor-2_x');
	fails(t, await http.get(`${schema}/roles/editor-2_x`), 404, 'editor-2_x');
	await ledger.balanced();
});

journey('permissions can be added and removed, and repetitions are ignored', async (t, place) => {
	const { http, schema } = place;
	await createDocument(place);
	const path = `${schema}/roles/r/permissions`;
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.post(`${schema}/roles`, { key: 'r', name: 'R', permissions: ['document:read'] }));

	const both = ['document:read', 'document:write'];
	t.deepEqual((await ledger.wrote(await http.post(path, { permissions: both })))['permissions'], both);
	t.deepEqual((await ledger.kept(await http.post(path, { permissions: both })))['permissions'], both);
	t.deepEqual((await ledger.kept(await http.post(path, { permissions: [] })))['permissions'], both);
	const taken = await ledger.wrote(await http.delete(path, { permissions: ['document:read', 'document:print'] }));
	t.deepEqual(taken['permissions'], ['document:write']);
	t.deepEqual((await ledger.kept(await http.delete(path, { permissions: ['document:read'] })))['permissions'], [
		'document:write',
	]);
	t.deepEqual((await ledger.wrote(await http.delete(path, { permissions: ['document:write'] })))['permissions'], []);

	const unknown = ['document:fly', 'boat:read', '00000000-0000-4000-8000-000000000000'];
	for (const permission of unknown) fails(t, await http.post(path, { permissions: [permission] }), 404, permission);
	for (const permission of ['document', 'document:', ':read', 'document:read:all', 'document read']) {
		for (const method of ['POST', 'DELETE']) {
			const refused = await http.send(method, path, { permissions: [permission] });
			fails(t, refused, 400, permission);
			t.is(refused.body['error_code'], 'INVALID_PERMISSION_FORMAT');
		}
	}
	const undefinedToo = { key: 'undefined', name: 'U', actions: { undefined: {} } };
	await ledger.wrote(await http.post(`${schema}/resources`, undefinedToo));
	const beside = { permissions: ['undefined:undefined', unknown[2]] };
	fails(t, await http.post(path, beside), 404, unknown[2]);
	const mixed = await http.post(path, { permissions: ['document:read', 'document:fly'] });
	fails(t, mixed, 404, 'document:fly');
	t.deepEqual((await http.get(`${schema}/roles/r`)).body['permissions'], [], 'all or none');
	await ledger.balanced();
});

journey('PATCH changes only its fields; lists and attributes are replaced as a whole', async (t, place) => {
	const { http, schema } = place;
	await createDocument(place);
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.post(`${schema}/roles`, { key: 'base', name: 'Base' }));
	const sent = {
		key: 'r',
		name: 'R',
		permissions: ['document:read'],
		extends: ['base'],
		attributes: { a: '1', b: '2' },
	};
	const made = await ledger.wrote(await http.post(`${schema}/roles`, sent));
	const path = `${schema}/roles/r`;

	const described = await ledger.wrote(await http.patch(path, { description: 'Described' }));
	t.deepEqual({ ...described, updated_at: null }, { ...made, description: 'Described', updated_at: null });
	for (const nothing of [
		{},
		{ description: 'Described' },
		{ permissions: ['document:read'], extends: ['base'] },
		{ name: null, key: 'x' },
	]) {
		t.deepEqual(await ledger.kept(await http.patch(path, nothing)), described, JSON.stringify(nothing));
	}
	const moved = await ledger.wrote(await http.patch(path, { permissions: ['document:print'], attributes: { c: '3' } }));
	t.deepEqual(
		[moved['permissions'], moved['attributes'], moved['extends']],
		[['document:print'], { c: '3' }, ['base']],
	);
	const cleared = await ledger.wrote(
		await http.patch(path, { permissions: [], extends: [], attributes: null, description: null }),
	);
	t.like(cleared, { id: made['id'], key: 'r', name: 'R', description: null, attributes: null });
	t.deepEqual([cleared['permissions'], cleared['extends']], [[], []]);
	await ledger.balanced();
});

journey('roles can extend roles by key or id, without cycles', async (t, place) => {
	const { http, schema } = place;
	const path = `${schema}/roles`;
	const ledger = await openLedger(t, place);
	const a = await ledger.wrote(await http.post(path, { key: 'a', name: 'A' }));
	await ledger.wrote(await http.post(path, { key: 'b', name: 'B', extends: [a['id'], 'a'] }));
	t.deepEqual((await ledger.read(await http.get(`${path}/b`)))['extends'], ['a'], 'once, by key');
	await ledger.wrote(await http.post(path, { key: 'c', name: 'C', extends: ['b', 'a'] }));

	for (const [role, parent] of [
		['a', 'c'],
		['a', 'b'],
		['a', 'a'],
		['b', 'c'],
	] as const) {
		const refused = await http.patch(`${path}/${role}`, { extends: [parent] });
		fails(t, refused, 422, role);
		t.deepEqual(problemPlaces(refused), ['body.extends']);
	}
	fails(t, await http.post(path, { key: 'd', name: 'D', extends: ['nobody'] }), 404, 'nobody');
	fails(t, await http.post(path, { key: 'd', name: 'D', extends: ['d'] }), 422, 'd');
	fails(t, await http.get(`${path}/d`), 404, 'd');
	await ledger.wrote(await http.delete(`${path}/b`), 204);
	t.deepEqual(
		(await ledger.read(await http.get(`${path}/c`)))['extends'],
		['a'],
		'a deleted parent is no longer a parent',
	);
	await ledger.balanced();
});

journey('roles are listed as an array, or with counts on request', async (t, place) => {
	const { http, schema } = place;
	const list = `${schema}/roles`;
	t.deepEqual((await http.get<Listed>(list)).body, [], 'none in a new environment');
	for (const key of ['viewer', 'editor', 'chief_editor']) {
		await http.post(list, { key, name: `The ${key}`, attributes: { team: key === 'viewer' ? 'a' : 'b' } });
	}
	const arrays: Readonly<Record<string, readonly string[]>> = {
		'': ['viewer', 'editor', 'chief_editor'],
		'?include_total_count=false': ['viewer', 'editor', 'chief_editor'],
		'?search=EDITOR': ['editor', 'chief_editor'],
		'?search=editor*': ['editor'],
		'?search=*_editor': ['chief_editor'],
		'?search=the%20v*': ['viewer'],
		'?attr_team=b&per_page=1&page=2': ['chief_editor'],
		'?attr_team=c': [],
	};
	for (const [query, keys] of Object.entries(arrays)) {
		t.deepEqual(listedKeys((await http.get<Listed>(list + query)).body), keys, query);
	}
	const counted = await http.get<Paginated>(`${list}?include_total_count=true&per_page=2&page=2`);
	t.deepEqual(shape(counted.body), { data: ['chief_editor'], total_count: 3, page_count: 2 });
});

journey('a role is deleted with its assignments', async (t, place) => {
	const { http, schema, facts } = place;
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.post(`${schema}/roles`, { key: 'r', name: 'R' }));
	await ledger.wrote(await http.post(`${schema}/roles`, { key: 'stays', name: 'Stays' }));
	const role_assignments = [
		{ role: 'r', tenant: 'default' },
		{ role: 'stays', tenant: 'default' },
	];
	await ledger.wrote(await http.post(`${facts}/users`, { key: 'ann', role_assignments }));
	await ledger.wrote(await http.delete(`${schema}/roles/r`), 204);
	t.deepEqual((await http.get(`${facts}/users/ann`)).body['roles'], [{ role: 'stays', tenant: 'default' }]);
	t.is((await http.get<Listed>(`${facts}/role_assignments`)).body.length, 1);
	for (const method of ['GET', 'PATCH', 'DELETE']) {
		fails(t, await http.send(method, `${schema}/roles/r`, method === 'PATCH' ? {} : undefined), 404, 'r');
	}
	await ledger.wrote(await http.post(`${schema}/roles`, { key: 'r', name: 'R again' }));
	t.is(
		(await http.get<Listed>(`${facts}/role_assignments`)).body.length,
		1,
		'a role with the same key is recreated without assignments',
	);
	await ledger.balanced();
});
