// @rest

import { Resource } from '../../src/store/table/resource.js';
import { ResourceInstance } from '../../src/store/table/resource-instance.js';
import { Role } from '../../src/store/table/role.js';
import { RoleAssignment } from '../../src/store/table/role-assignment.js';
import { Tenant } from '../../src/store/table/tenant.js';
import { User } from '../../src/store/table/user.js';
import type { Loose } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { type Listed, listedKeys } from '../support/listed.js';
import { type Place, scopeIn } from '../support/management.js';

/** Resource roles: sets of resource actions that users may have on instances. */

const journey = onEachStore();

/** Creates two resources that have an action with the same name. */
async function createResources({ http, schema }: Place) {
	const document = { key: 'Document', name: 'Document', actions: { read: {}, write: {}, '-': {} } };
	const { body } = await http.post<{ id: string; actions: Record<string, { id: string }> }>(
		`${schema}/resources`,
		document,
	);
	const folder = { key: 'folder', name: 'Folder', actions: { read: {}, list: {} } };
	await http.post(`${schema}/resources`, folder);
	const actionId = (key: string) => body.actions[key]?.id ?? '';
	return { id: body.id, actionId, path: `${schema}/resources/Document/roles` };
}

journey('a resource role is created from the resource’s actions, and returned as created', async (t, place) => {
	const { http, schema } = place;
	const { id: resource_id, actionId, path } = await createResources(place);
	const ledger = await openLedger(t, place);
	const viewer = await ledger.wrote(await http.post(path, { key: 'viewer', name: 'Viewer', granted_to: null }));
	t.deepEqual([viewer['permissions'], viewer['extends']], [[], []], 'empty lists, not null');
	t.like(viewer, { description: null, attributes: null, granted_to: null, resource: 'Document', resource_id });

	const sent = { key: 'Editor-2_x', name: 'Editor', description: 'Edits', attributes: { team: 'a' } };
	const named = ['write', 'Document:read', actionId('-'), actionId('-').replaceAll('-', ''), 'write'];
	const links = { permissions: named, extends: [viewer['id']] };
	const editor = await ledger.wrote(await http.post(path, { ...sent, ...links }));
	t.like(editor, { ...sent, resource: 'Document', environment_id: place.id, granted_to: null });
	t.deepEqual(editor['permissions'], ['write', 'read', '-'], 'action keys in the sent order');
	t.deepEqual(editor['extends'], ['viewer']);
	for (const name of ['Editor-2_x', String(editor['id']), String(editor['id']).replaceAll('-', '')]) {
		t.deepEqual(await ledger.read(await http.get(`${path}/${name}`)), editor, name);
	}
	const whole = await ledger.read(await http.get<{ roles: object }>(`${schema}/resources/${resource_id}`));
	t.deepEqual(whole.roles, { viewer, 'Editor-2_x': editor }, 'the resource shows its roles');
	t.deepEqual((await http.get<Listed>(path)).body, [viewer, editor]);
	t.deepEqual(listedKeys((await http.get<Listed>(`${path}?per_page=1&page=2`)).body), ['Editor-2_x']);

	fails(t, await http.post(path, sent), 409, 'Editor-2_x');
	await ledger.balanced();
});

journey('the keys of tenant roles and of each resource’s roles are independent', async (t, place) => {
	const { http, schema, facts } = place;
	const { path } = await createResources(place);
	const ledger = await openLedger(t, place);
	const folder = `${schema}/resources/folder/roles`;
	const role = { key: 'editor', name: 'Editor' };
	const ofTenants = await ledger.wrote(await http.post(`${schema}/roles`, role));
	const ofDocuments = await ledger.wrote(await http.post(path, { ...role, permissions: ['read'] }));
	const ofFolders = await ledger.wrote(await http.post(folder, role));
	t.is(new Set([ofTenants, ofDocuments, ofFolders].map(({ id }) => id)).size, 3);
	t.deepEqual((await http.get<Listed>(`${schema}/roles`)).body, [ofTenants], 'each list contains only its own roles');
	t.deepEqual((await http.get<Listed>(folder)).body, [ofFolders]);

	await http.post(path, { key: 'other', name: 'Other' });
	const other = (await http.get(`${path}/other`)).body['id'];
	for (const elsewhere of [`${schema}/roles/${other}`, `${folder}/${other}`, `${path}/${ofTenants['id']}`]) {
		for (const method of ['GET', 'DELETE']) fails(t, await http.send(method, elsewhere), 404);
		fails(t, await http.patch(elsewhere, { name: 'X' }), 404);
	}
	for (const [at, parent] of [
		[path, ofTenants['id']],
		[path, ofFolders['id']],
		[`${schema}/roles`, other],
		[`${schema}/roles`, 'other'],
	] as const) {
		fails(t, await http.patch(`${at}/editor`, { extends: [parent] }), 404, String(parent));
	}
	await http.post(`${facts}/users`, { key: 'ann' });
	fails(t, await http.post(`${facts}/role_assignments`, { user: 'ann', role: other, tenant: 'default' }), 404);
	fails(t, await http.get(`${schema}/resources/nothing/roles/editor`), 404, 'nothing');
	fails(t, await http.post(`${schema}/resources/nothing/roles`, role), 404, 'nothing');
});

journey('permissions can be added and removed, but only for actions of the resource', async (t, place) => {
	const { http, schema } = place;
	const { actionId, path: roles } = await createResources(place);
	const path = `${roles}/r/permissions`;
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.post(roles, { key: 'r', name: 'R', permissions: ['read'] }));

	const both = ['read', 'write'];
	t.deepEqual((await ledger.wrote(await http.post(path, { permissions: both })))['permissions'], both);
	t.deepEqual((await ledger.kept(await http.post(path, { permissions: ['Document:read'] })))['permissions'], both);
	const taken = await ledger.wrote(await http.delete(path, { permissions: [actionId('read'), '-'] }));
	t.deepEqual(taken['permissions'], ['write']);
	t.deepEqual((await ledger.kept(await http.delete(path, { permissions: ['read'] })))['permissions'], ['write']);
	t.deepEqual((await ledger.wrote(await http.delete(path, { permissions: both })))['permissions'], []);

	const { body: list } = await http.get<{ id: string }>(`${schema}/resources/folder/actions/list`);
	const unknown = ['fly', 'Document:fly', 'boat:read', '00000000-0000-4000-8000-000000000000'];
	for (const permission of unknown) fails(t, await http.post(path, { permissions: [permission] }), 404, permission);
	for (const permission of ['folder:read', 'folder:list', list.id]) {
		for (const method of ['POST', 'DELETE']) {
			const refused = await http.send(method, path, { permissions: [permission] });
			fails(t, refused, 400, permission);
			t.is(refused.body['error_code'], 'INVALID_INPUT');
		}
		fails(t, await http.patch(`${roles}/r`, { permissions: ['read', permission] }), 400, permission);
		fails(t, await http.post(roles, { key: 's', name: 'S', permissions: [permission] }), 400, permission);
	}
	for (const permission of [':', 'Document:', ':read', 'Document:read:all']) {
		const refused = await http.post(path, { permissions: [permission] });
		fails(t, refused, 400, permission);
		t.is(refused.body['error_code'], 'INVALID_PERMISSION_FORMAT');
	}
	t.deepEqual((await http.get(`${roles}/r`)).body['permissions'], [], 'all or none');
	await ledger.balanced();
});

journey(
	'PATCH of a resource role changes only its fields; lists and attributes are replaced as a whole',
	async (t, place) => {
		const { http } = place;
		const { path: roles } = await createResources(place);
		const ledger = await openLedger(t, place);
		await ledger.wrote(await http.post(roles, { key: 'base', name: 'Base' }));
		const sent = { name: 'R', permissions: ['read'], extends: ['base'], attributes: { a: '1', b: '2' } };
		const made = await ledger.wrote(await http.post(roles, { key: 'r', ...sent }));
		const path = `${roles}/r`;

		const described = await ledger.wrote(await http.patch(path, { description: 'Described' }));
		t.deepEqual({ ...described, updated_at: null }, { ...made, description: 'Described', updated_at: null });
		for (const nothing of [{}, sent, { name: null, permissions: null, key: 'x' }, { granted_to: null }]) {
			t.deepEqual(await ledger.kept(await http.patch(path, nothing)), described, JSON.stringify(nothing));
		}
		const moved = await ledger.wrote(await http.patch(path, { permissions: ['-'], attributes: { c: '3' } }));
		t.deepEqual([moved['permissions'], moved['attributes'], moved['extends']], [['-'], { c: '3' }, ['base']]);
		const cleared = await ledger.wrote(await http.patch(path, { extends: [], attributes: null, description: null }));
		t.like(cleared, { id: made['id'], key: 'r', name: 'R', description: null, attributes: null });
		t.deepEqual([cleared['permissions'], cleared['extends']], [['-'], []]);
		await ledger.balanced();
	},
);

const inline = {
	viewer: { name: 'Viewer', permissions: ['read'] },
	editor: { name: 'Editor', description: 'Edits', permissions: ['write'], extends: ['viewer'], attributes: { a: 1 } },
};

type WithRoles = Loose & { roles: Record<string, Loose> };

journey('roles can be created and replaced with their resource, and refer to each other', async (t, place) => {
	const { http, schema } = place;
	const ledger = await openLedger(t, place);
	const body = { key: 'report', name: 'Report', actions: { read: {}, write: {} }, roles: inline };
	const made = await ledger.wrote(await http.post<WithRoles>(`${schema}/resources`, body));
	const path = `${schema}/resources/report`;
	t.deepEqual(Object.keys(made.roles).sort(), ['editor', 'viewer']);
	t.like(made.roles['editor'], { name: 'Editor', description: 'Edits', resource: 'report', granted_to: null });
	t.deepEqual(made.roles['editor']?.['extends'], ['viewer'], 'in any order');
	t.deepEqual(await ledger.read(await http.get(`${path}/roles/editor`)), made.roles['editor']);

	t.deepEqual(await ledger.kept(await http.patch<WithRoles>(path, { roles: inline })), made);
	t.deepEqual(await ledger.kept(await http.patch<WithRoles>(path, { roles: null, description: null })), made);
	const roles = {
		editor: { name: 'Editor' },
		auditor: { name: 'Auditor', permissions: ['audit'], extends: ['editor'] },
	};
	const actions = { audit: {}, write: {} };
	const other = await ledger.wrote(await http.patch<WithRoles>(path, { roles, actions }));
	t.deepEqual(Object.keys(other.roles).sort(), ['auditor', 'editor']);
	t.like(other.roles['editor'], { id: made.roles['editor']?.['id'], description: null, attributes: null });
	t.deepEqual([other.roles['editor']?.['permissions'], other.roles['editor']?.['extends']], [[], []]);
	t.deepEqual(other.roles['auditor']?.['permissions'], ['audit'], 'an action in the same body');

	const cycle = { a: { name: 'A', extends: ['b'] }, b: { name: 'B', extends: ['a'] } };
	const refused = await http.patch(path, { roles: cycle });
	fails(t, refused, 422, 'would extend itself');
	t.deepEqual([...problemPlaces(refused)].sort(), ['body.roles.a.extends', 'body.roles.b.extends']);
	fails(t, await http.patch(path, { roles: { a: { name: 'A', permissions: ['fly'] } } }), 404, 'fly');
	fails(
		t,
		await http.post(`${schema}/resources`, { ...body, key: 'x', roles: { a: { name: 'A', extends: ['z'] } } }),
		404,
	);
	t.deepEqual(await ledger.read(await http.get(path)), other, 'all or none');

	const { roles: reset } = await ledger.wrote(await http.put<WithRoles>(path, { name: 'Report', actions }));
	t.deepEqual(reset, {}, 'PUT resets absent fields');
	fails(t, await http.get(`${path}/roles/editor`), 404, 'editor');
	await ledger.balanced();
});

/** Returns the newest role changes, oldest first. */
async function roleChanges({ store, id }: Place, revision: number) {
	return store.database
		.knex('changes')
		.where({ environment_id: id, kind: 'role', revision })
		.orderBy('position')
		.select<{ operation: string; key: string; before: Loose | null; after: Loose | null }[]>();
}

journey('a role is deleted with its resource and extensions, and recreated without them', async (t, place) => {
	const { http, schema } = place;
	const { path } = await createResources(place);
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.post(path, { key: 'viewer', name: 'Viewer', permissions: ['read'] }));
	const editor = await ledger.wrote(
		await http.post(path, { key: 'editor', name: 'Editor', permissions: ['write'], extends: ['viewer'] }),
	);
	await ledger.wrote(await http.delete(`${path}/viewer`), 204);
	t.deepEqual((await http.get(`${path}/editor`)).body['extends'], [], 'a deleted parent is no longer a parent');
	const [gone, changed, ...rest] = await roleChanges(place, await place.revision());
	t.deepEqual([gone?.operation, gone?.key, rest.length], ['delete', 'Document:viewer', 0]);
	t.like(gone?.before, { key: 'viewer', resource: 'Document', granted_to: null });
	t.deepEqual(gone?.before?.['permissions'], ['read']);
	t.deepEqual([changed?.operation, changed?.key], ['update', 'Document:editor']);
	t.deepEqual([changed?.before?.['extends'], changed?.after?.['extends']], [['viewer'], []]);

	await ledger.wrote(await http.post(path, { key: 'viewer', name: 'Viewer again' }));
	t.deepEqual((await http.get(`${path}/viewer`)).body['permissions'], []);
	t.deepEqual((await http.get(`${path}/editor`)).body['extends'], []);

	await ledger.wrote(await http.delete(`${schema}/resources/Document`), 204);
	const names = (await roleChanges(place, await place.revision())).map(({ operation, key }) => `${operation} ${key}`);
	t.deepEqual(names.sort(), ['delete Document:editor', 'delete Document:viewer']);
	await http.post(`${schema}/resources`, { key: 'Document', name: 'Document', actions: { write: {} } });
	t.deepEqual((await http.get<Listed>(path)).body, []);
	fails(t, await http.get(`${path}/${editor['id']}`), 404);
});

/** Creates a user and a document, and gives the user a role on it. */
async function holdOnDocument(place: Place, user: string, role: string): Promise<void> {
	await place.store.write(scopeIn(place), null, async (unit) => {
		const { id: resource_id } = await unit.find(Resource, 'Document');
		const { id: tenant_id } = await unit.find(Tenant, 'default');
		const { id: user_id } = await unit.create(User, { key: user, attributes: {} }, user);
		const columns = { key: `of-${user}`, resource_id, tenant_id, attributes: {} };
		const instance = await unit.create(ResourceInstance, columns, columns.key);
		const { id: role_id } = await unit.find(Role, role, { resource_id });
		const { id, created_at } = unit.stamp();
		const held = { id, created_at, user_id, tenant_id, role_id, resource_instance_id: instance.id };
		await unit.insert(RoleAssignment, [held], () => user);
	});
}

journey('a role is deleted with its assignments on instances, and recreated without them', async (t, place) => {
	const { http, schema } = place;
	const { path } = await createResources(place);
	const heldBy = async () => {
		const rows = place.store.database.knex('role_assignments').where('role_assignments.environment_id', place.id);
		return rows.join('users', 'users.id', 'role_assignments.user_id').orderBy('users.key').pluck('users.key');
	};
	for (const key of ['viewer', 'editor', 'owner']) {
		await http.post(path, { key, name: key });
		await holdOnDocument(place, `${key}-user`, key);
	}
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.delete(`${path}/viewer`), 204);
	t.deepEqual(await heldBy(), ['editor-user', 'owner-user']);
	const revision = await place.revision();
	const taken = await place.store.database.knex('changes').where({ environment_id: place.id, revision }).pluck('kind');
	t.deepEqual(taken.sort(), ['role', 'role_assignment']);
	await ledger.wrote(await http.patch(`${schema}/resources/Document`, { roles: { editor: { name: 'Editor' } } }));
	t.deepEqual(await heldBy(), ['editor-user'], 'a role kept by the body is still assigned');
	for (const key of ['viewer', 'owner']) await ledger.wrote(await http.post(path, { key, name: key }));
	t.deepEqual(await heldBy(), ['editor-user']);
	await ledger.wrote(await http.delete(`${schema}/resources/Document`), 204);
	t.deepEqual(await heldBy(), []);
});

journey('several roles can be created and replaced together, all or none', async (t, place) => {
	const { http, schema } = place;
	const { path: roles } = await createResources(place);
	const path = `${schema}/bulk/roles`;
	const ledger = await openLedger(t, place);
	const old = { key: 'old', name: 'Old', description: 'Described', permissions: ['Document:read'] };
	const before = await ledger.wrote(await http.post(`${schema}/roles`, old));
	const operations = [
		{ key: 'old', name: 'New', extends: ['fresh'], granted_to: null },
		{ key: 'fresh', name: 'Twice' },
		{ key: 'fresh', name: 'Fresh', permissions: ['folder:list'] },
		{ key: 'fresh', name: 'Of documents', resource: 'Document', permissions: ['read'], extends: ['other'] },
		{ key: 'other', name: 'Other', resource: 'Document' },
	];
	const report = await ledger.wrote(await http.put(path, { operations }));
	t.deepEqual(report, { created: ['fresh', 'fresh', 'other'], updated: ['old'] });
	t.like(await ledger.read(await http.get(`${schema}/roles/old`)), {
		id: before['id'],
		name: 'New',
		description: null,
	});
	const { body: listed } = await http.get<Listed>(`${schema}/roles`);
	const shown = listed.map(({ key, name, permissions, extends: parents }) => [key, name, permissions, parents]);
	t.deepEqual(shown, [
		['old', 'New', [], ['fresh']],
		['fresh', 'Fresh', ['folder:list'], []],
	]);
	t.deepEqual(
		(await http.get<Listed>(roles)).body.map(({ key, extends: parents }) => [key, parents]),
		[
			['fresh', ['other']],
			['other', []],
		],
	);
	const again = await ledger.kept(await http.put(path, { operations }));
	t.deepEqual(again, { created: [], updated: ['old', 'fresh', 'fresh', 'other'] });
	t.deepEqual(await ledger.kept(await http.put(path, { operations: [] })), { created: [], updated: [] });

	const refused: readonly (readonly [operation: object, status: number, text: string])[] = [
		[{ key: 'a', name: 'A', resource: 'nothing' }, 404, 'nothing'],
		[{ key: 'a', name: 'A', permissions: ['Document:fly'] }, 404, 'Document:fly'],
		[{ key: 'a', name: 'A', permissions: ['read'] }, 400, 'read'],
		[{ key: 'a', name: 'A', resource: 'Document', permissions: ['folder:read'] }, 400, 'folder:read'],
		[{ key: 'a', name: 'A', extends: ['a'] }, 422, 'operations'],
		[{ key: 'a', name: 'A', granted_to: { when: { no_direct_roles_on_object: true } } }, 422, 'granted_to'],
	];
	for (const [operation, status, text] of refused) {
		fails(t, await http.put(path, { operations: [{ key: 'good', name: 'Good' }, operation] }), status, text);
	}
	fails(t, await http.get(`${schema}/roles/good`), 404, 'good');
	const many = Array.from({ length: 1001 }, (_, index) => ({ key: `r${index}`, name: 'R' }));
	fails(t, await http.put(path, { operations: many }), 422, 'at most 1000 roles');
	await ledger.balanced();
});
