// @rest

import { Role } from '../../src/store/table/role.js';
import type { Loose } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { type Listed, listedKeys, type Paginated, shape } from '../support/listed.js';

/** Resources with their actions and attributes. */

const journey = onEachStore();
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const document = {
	key: 'document',
	name: 'Document',
	urn: 'prn:docs:document',
	description: 'What users write',
	actions: { read: { name: 'Read', description: 'See it', attributes: { risk: 'low' } }, 'sign-off': {} },
	attributes: { private: { type: 'bool', description: 'Hidden' }, tags: { type: 'array' } },
	type_attributes: { team: 'editorial', level: 3, flags: [true, null] },
};

journey('a resource is created with its actions and attributes, and returned as created', async (t, place) => {
	const { http, schema } = place;
	const ledger = await openLedger(t, place);
	const made: Loose = await ledger.wrote(await http.post(`${schema}/resources`, document));
	const { key, name, urn, description, type_attributes } = document;
	t.like(made, { key, name, urn, description });
	t.deepEqual(made['type_attributes'], type_attributes);
	const { id, actions, attributes } = made as {
		id: string;
		actions: Record<string, Loose>;
		attributes: Record<string, Loose>;
	};
	t.regex(id, uuid);
	t.regex(String(made['created_at']), instant);
	t.is(made['created_at'], made['updated_at']);
	t.like(made, { organization_id: place.organization_id, project_id: place.project_id, environment_id: place.id });

	const unused = { v1compat_path: null, v1compat_is_built_in: null, v1compat_name: null };
	t.deepEqual(Object.keys(actions), ['read', 'sign-off']);
	const { id: readId, ...read } = actions['read'] ?? {};
	t.regex(String(readId), uuid);
	t.deepEqual(read, { key: 'read', name: 'Read', description: 'See it', attributes: { risk: 'low' }, ...unused });
	const { id: _, ...signOff } = actions['sign-off'] ?? {};
	t.deepEqual(
		signOff,
		{ key: 'sign-off', name: 'sign-off', description: null, attributes: null, ...unused },
		'a key for a name',
	);
	t.like(attributes['private'], { key: 'private', type: 'bool', description: 'Hidden' });
	t.like(attributes['tags'], { key: 'tags', type: 'array', description: null });
	t.deepEqual([made['roles'], made['relations'], made['action_groups']], [{}, {}, {}]);
	t.like(made, { v1compat_path: null, v1compat_type: null, v1compat_name: null });

	t.deepEqual(await ledger.read(await http.get(`${schema}/resources/document`)), made);
	fails(t, await http.post(`${schema}/resources`, document), 409, 'document');
	await ledger.balanced();
});

journey('absent fields of a minimal resource are null or empty', async (t, { http, schema }) => {
	const sent = {
		key: 'Account',
		name: '',
		actions: {},
		description: null,
		attributes: null,
		urn: null,
		type_attributes: null,
	};
	const { body } = await http.post(`${schema}/resources`, {
		...sent,
		roles: null,
		relations: {},
		v1compat_path: 'x',
		nonsense: 1,
	});
	t.like(body, { key: 'Account', name: '', description: null, urn: null, type_attributes: null });
	t.deepEqual([body['actions'], body['attributes'], body['roles'], body['relations']], [{}, {}, {}, {}]);
	t.false('nonsense' in body);
});

journey('PUT replaces a resource with the body, and resets all absent fields', async (t, place) => {
	const { http, schema } = place;
	const ledger = await openLedger(t, place);
	const before = await ledger.wrote(
		await http.post<{ id: string; actions: Record<string, Loose> }>(`${schema}/resources`, document),
	);
	await ledger.wrote(
		await http.post(`${schema}/roles`, { key: 'r', name: 'R', permissions: ['document:read', 'document:sign-off'] }),
	);

	const whole = { name: 'Paper', actions: { read: {}, print: { name: 'Print' } }, key: 'another' };
	const after: typeof before & Loose = await ledger.wrote(await http.put(`${schema}/resources/document`, whole));
	t.like(after, { id: before.id, key: 'document', name: 'Paper', urn: null, description: null, type_attributes: null });
	t.deepEqual(after['attributes'], {});
	t.deepEqual(Object.keys(after.actions).sort(), ['print', 'read']);
	t.is(after.actions['read']?.['id'], before.actions['read']?.['id'], 'a kept action keeps its id');
	t.like(after.actions['read'], { name: 'read', description: null, attributes: null });
	const role = await ledger.read(await http.get(`${schema}/roles/r`));
	t.deepEqual(role['permissions'], ['document:read'], 'the removed action’s grant was deleted');

	t.deepEqual(await ledger.kept(await http.put(`${schema}/resources/document`, whole)), after);
	fails(t, await http.get(`${schema}/resources/another`), 404, 'another');
	fails(t, await http.put(`${schema}/resources/another`, whole), 404, 'another');
	await ledger.balanced();
});

journey('PATCH changes only its fields; maps are replaced as a whole; null clears a field', async (t, place) => {
	const { http, schema } = place;
	const path = `${schema}/resources/document`;
	const ledger = await openLedger(t, place);
	const { updated_at: _, ...made }: Loose = await ledger.wrote(await http.post(`${schema}/resources`, document));

	const { updated_at: __, ...described }: Loose = await ledger.wrote(await http.patch(path, { description: 'Texts' }));
	t.deepEqual(described, { ...made, description: 'Texts' });
	const picked = await ledger.wrote(await http.patch(path, { actions: { pick: {} } }));
	t.deepEqual(Object.keys(picked['actions'] as object), ['pick']);
	t.deepEqual(picked['attributes'], made['attributes']);
	const cleared = await ledger.wrote(
		await http.patch(path, { description: null, urn: null, type_attributes: null, attributes: null }),
	);
	t.like(cleared, { name: 'Document', description: null, urn: null, type_attributes: null });
	t.deepEqual(cleared['attributes'], {});

	for (const nothing of [
		{},
		{ description: null },
		{ name: null, actions: null },
		{ key: 'renamed' },
		{ unknown: 1 },
	]) {
		t.deepEqual(await ledger.kept(await http.patch(path, nothing)), cleared, JSON.stringify(nothing));
	}
	await ledger.balanced();
});

journey(
	'resources are listed as an array, or with counts on request; built-in resources only on request',
	async (t, place) => {
		const { http, schema } = place;
		const list = `${schema}/resources`;
		const ledger = await openLedger(t, place);
		t.deepEqual(await ledger.read(await http.get<Listed>(list)), [], 'none in a new environment');
		t.deepEqual(listedKeys(await ledger.read(await http.get<Listed>(`${list}?include_built_in=true`))), ['__user']);
		for (const [index, key] of ['X', 'X-2', 'other'].entries()) {
			const type_attributes = { team: key === 'other' ? 'b' : 'a', rank: index };
			await ledger.wrote(await http.post(list, { key, name: key, actions: {}, type_attributes }));
		}
		const arrays: Readonly<Record<string, readonly string[]>> = {
			'': ['X', 'X-2', 'other'],
			'?include_total_count=false&include_built_in=false&page=1&per_page=100': ['X', 'X-2', 'other'],
			'?per_page=2': ['X', 'X-2'],
			'?per_page=2&page=2': ['other'],
			'?page=999999999': [],
			'?search=X': ['X', 'X-2'],
			'?search=x': ['X', 'X-2'],
			'?search=X*': ['X', 'X-2'],
			'?search=X-*': ['X-2'],
			'?search=X_*': [],
			'?search=%25': [],
			'?search=%5C': [],
			'?search=*th*r': ['other'],
			'?search=': ['X', 'X-2', 'other'],
			'?attr_team=a': ['X', 'X-2'],
			'?attr_team=a&search=*2': ['X-2'],
			'?attr_team=a&attr_rank=0': ['X'],
			'?attr_team=': [],
			'?attr_missing=a': [],
			'?attr_team=a%27%20or%20true--': [],
			'?nonsense=1&tenant=none': ['X', 'X-2', 'other'],
		};
		for (const [query, keys] of Object.entries(arrays)) {
			t.deepEqual(listedKeys(await ledger.read(await http.get<Listed>(list + query))), keys, query);
		}
		const counted = await http.get<Paginated>(`${list}?include_total_count=true&per_page=2`);
		t.deepEqual(shape(counted.body), { data: ['X', 'X-2'], total_count: 3, page_count: 2 });
		const none = await http.get<Paginated>(`${list}?include_total_count=true&search=nothing`);
		t.deepEqual(none.body, { data: [], total_count: 0, page_count: 0 });
	},
);

journey(
	'a resource has several names: its key, its id in any spelling, a key that looks like an id',
	async (t, { http, schema }) => {
		const key = '11111111-2222-4333-8444-555555555555';
		const made = await http.post<{ id: string }>(`${schema}/resources`, { key, name: 'UUID', actions: {} });
		const { id } = made.body;
		for (const name of [key, id, id.toUpperCase(), id.replaceAll('-', ''), id.replaceAll('-', '').toUpperCase()]) {
			t.is((await http.get(`${schema}/resources/${name}`)).body['id'], id, name);
		}
		fails(t, await http.get(`${schema}/resources/${key.replaceAll('-', '')}`), 404, key.replaceAll('-', ''));
		const other = await http.post<{ id: string }>(`${schema}/resources`, {
			key: id,
			name: 'Named like the first',
			actions: {},
		});
		t.is(other.status, 200);
		t.is((await http.get(`${schema}/resources/${id}`)).body['key'], key, 'an id takes precedence over a key');
		t.is((await http.get(`${schema}/resources/${other.body.id}`)).body['key'], id);
	},
);

journey('actions have paths under their resource', async (t, place) => {
	const { http, schema } = place;
	const ledger = await openLedger(t, place);
	const resource = await ledger.wrote(
		await http.post(`${schema}/resources`, { key: 'file', name: 'File', actions: { open: {} } }),
	);
	await ledger.wrote(await http.post(`${schema}/resources`, { key: 'folder', name: 'Folder', actions: {} }));
	const path = `${schema}/resources/file/actions`;

	const sent = { key: 'print', name: 'Print', description: 'On paper', attributes: { paper: 'a4', copies: 2 } };
	const print = await ledger.wrote(await http.post(path, sent));
	t.like(print, { ...sent, permission_name: 'file:print', resource_id: resource['id'] });
	t.like(print, { v1compat_path: null, v1compat_is_built_in: null, v1compat_name: null, environment_id: place.id });
	fails(t, await http.post(path, sent), 409, 'print');
	await ledger.wrote(
		await http.post(`${schema}/resources/folder/actions`, { key: 'print', name: 'Same key, other resource' }),
	);
	await ledger.wrote(await http.post(path, { key: 'Move-It_2', name: 'Move' }));

	t.deepEqual(listedKeys(await ledger.read(await http.get<Listed>(path))), ['open', 'print', 'Move-It_2']);
	t.deepEqual(listedKeys((await http.get<Listed>(`${path}?page=2&per_page=1`)).body), ['print']);
	t.deepEqual(listedKeys((await http.get<Listed>(`${path}?attr_paper=a4`)).body), ['print']);
	t.deepEqual(listedKeys((await http.get<Listed>(`${path}?attr_paper=a5`)).body), []);
	for (const name of ['print', String(print['id']), String(print['id']).replaceAll('-', '')]) {
		t.deepEqual(await ledger.read(await http.get(`${path}/${name}`)), print, name);
		t.deepEqual(
			await ledger.read(await http.get(`${schema}/resources/${resource['id']}/actions/${name}`)),
			print,
			name,
		);
	}
	fails(t, await http.get(`${schema}/resources/folder/actions/${print['id']}`), 404, String(print['id']));

	const patched = await ledger.wrote(
		await http.patch(`${path}/print`, { name: 'Print it', description: null, attributes: null, key: 'no' }),
	);
	t.like(patched, { id: print['id'], key: 'print', name: 'Print it', description: null, attributes: null });
	await ledger.kept(await http.patch(`${path}/print`, { name: 'Print it' }));

	await ledger.wrote(
		await http.post(`${schema}/roles`, { key: 'r', name: 'R', permissions: ['file:print', 'file:open'] }),
	);
	await ledger.wrote(await http.delete(`${path}/print`), 204);
	t.deepEqual((await http.get(`${schema}/roles/r`)).body['permissions'], ['file:open'], 'its grants were deleted, too');
	for (const method of ['GET', 'PATCH', 'DELETE']) {
		fails(t, await http.send(method, `${path}/print`, method === 'PATCH' ? {} : undefined), 404, 'print');
	}
	t.deepEqual(Object.keys((await http.get(`${schema}/resources/file`)).body['actions'] as object), [
		'open',
		'Move-It_2',
	]);
	await ledger.balanced();
});

journey(
	'attributes have paths under their resource, and user attributes under `__user`, next to the built-in attributes',
	async (t, place) => {
		const { http, schema } = place;
		const ledger = await openLedger(t, place);
		const path = `${schema}/resources/__user/attributes`;
		const builtIn = await ledger.read(await http.get<Listed>(path));
		t.deepEqual(listedKeys(builtIn), ['key', 'roles', 'email', 'first_name', 'last_name']);
		for (const attribute of builtIn) {
			t.true(attribute['built_in']);
			t.true(String(attribute['description']).includes('Built in attribute'));
			fails(t, await http.delete(`${path}/${attribute['key']}`), 400, String(attribute['key']));
			for (const change of [{ type: 'number' }, { description: 'Mine' }, {}]) {
				fails(t, await http.patch(`${path}/${attribute['key']}`, change), 400, String(attribute['key']));
			}
		}

		const age = await ledger.wrote(await http.post(path, { key: 'age', type: 'number', description: 'In years' }));
		t.like(age, { key: 'age', type: 'number', description: 'In years', built_in: false, resource_key: '__user' });
		t.is(age['resource_id'], (await http.get(`${schema}/resources/__user`)).body['id']);
		fails(t, await http.post(path, { key: 'age', type: 'number' }), 409, 'age');
		fails(t, await http.post(path, { key: 'email', type: 'string' }), 409, 'email');
		for (const type of ['bool', 'number', 'string', 'time', 'array', 'json', 'object', 'object_array']) {
			t.is((await ledger.wrote(await http.post(path, { key: `a_${type}`, type })))['type'], type);
		}
		const wrong = await http.post(path, { key: 'x', type: 'integer' });
		fails(t, wrong, 422, 'integer');
		t.deepEqual(problemPlaces(wrong), ['body.type']);

		t.deepEqual(await ledger.read(await http.get(`${path}/${age['id']}`)), age);
		const patched = await ledger.wrote(await http.patch(`${path}/age`, { type: 'string', description: null }));
		t.like(patched, { id: age['id'], key: 'age', type: 'string', description: null });
		await ledger.kept(await http.patch(`${path}/age`, { type: null }));
		await ledger.wrote(await http.delete(`${path}/age`), 204);
		fails(t, await http.get(`${path}/age`), 404, 'age');
		fails(t, await http.delete(`${path}/age`), 404, 'age');

		const replaced = await ledger.wrote(await http.put(`${schema}/resources/__user`, { name: 'User', actions: {} }));
		t.deepEqual(Object.keys(replaced['attributes'] as object), ['key', 'roles', 'email', 'first_name', 'last_name']);
		const user = `${schema}/resources/__user`;
		fails(t, await http.patch(user, { attributes: { email: { type: 'number' } } }), 400, 'email');
		const shown = replaced['attributes'] as Readonly<Record<string, object>>;
		await ledger.kept(await http.patch(user, { attributes: shown }));
		await ledger.kept(await http.patch(user, { attributes: { email: { type: 'string' } } }));
		fails(t, await http.delete(user), 400, '__user');
		fails(t, await http.post(`${schema}/resources`, { key: '__user', name: 'User', actions: {} }), 409, '__user');
		const reserved = await http.post(`${schema}/resources`, { key: '__tenant', name: 'Tenant', actions: {} });
		fails(t, reserved, 422, 'reserved');
		t.deepEqual(problemPlaces(reserved), ['body.key']);
		await ledger.balanced();
	},
);

journey('a resource is deleted with its actions, attributes and all their grants', async (t, place) => {
	const { http, schema } = place;
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.post(`${schema}/resources`, document));
	await ledger.wrote(await http.post(`${schema}/resources`, { key: 'page', name: 'Page', actions: { read: {} } }));
	await ledger.wrote(
		await http.post(`${schema}/roles`, { key: 'r', name: 'R', permissions: ['document:read', 'page:read'] }),
	);

	await ledger.wrote(await http.delete(`${schema}/resources/document`), 204);
	for (const path of ['', '/actions', '/actions/read', '/attributes', '/attributes/private']) {
		fails(t, await http.get(`${schema}/resources/document${path}`), 404, 'document');
	}
	fails(t, await http.delete(`${schema}/resources/document`), 404, 'document');
	t.deepEqual((await http.get(`${schema}/roles/r`)).body['permissions'], ['page:read']);
	fails(t, await http.post(`${schema}/roles/r/permissions`, { permissions: ['document:read'] }), 404, 'document:read');
	const again = await ledger.wrote(await http.post(`${schema}/resources`, document));
	t.is(again['key'], 'document', 'the key is free again');
	await ledger.balanced();
});

journey('all cascaded deletions of a resource are recorded', async (t, place) => {
	const { http, schema, store, id: environment_id } = place;
	const { body } = await http.post<{ id: string }>(`${schema}/resources`, {
		...document,
		relations: { twin: 'document', owner: '__user' },
	});
	const page = { key: 'page', name: 'Page', actions: {}, relations: { parent: 'document' } };
	await http.post(`${schema}/resources`, page);
	await http.post(`${schema}/resources/document/action_groups`, { key: 'all', name: 'All', actions: ['read'] });
	await http.post(`${schema}/roles`, { key: 'r', name: 'R', permissions: ['document:read'] });
	const { organization_id, project_id } = place;
	await store.write({ organization_id, project_id, environment_id }, null, (unit) =>
		unit.create(Role, { key: 'owner', name: 'Owner', resource_id: body.id }, 'owner'),
	);
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.delete(`${schema}/resources/document`), 204);

	const changes: { kind: string; operation: string; record: Loose }[] = await store.database
		.knex('changes')
		.where({ environment_id, revision: await place.revision() })
		.select('kind', 'operation', store.database.knex.raw('coalesce(after, before) as record'))
		.orderBy('position');
	const said = changes.map(({ kind, operation, record }) => `${operation} ${kind} ${String(record['key'])}`);
	t.deepEqual([...said].sort(), [
		'delete action_group all',
		'delete relation owner',
		'delete relation parent',
		'delete relation twin',
		'delete resource document',
		'delete resource_action read',
		'delete resource_action sign-off',
		'delete resource_attribute private',
		'delete resource_attribute tags',
		'delete role owner',
		'update role r',
	]);
	t.is(said.at(-1), 'delete resource document', 'the resource is last');
	const changed = changes.find(({ operation }) => operation === 'update')?.record;
	t.deepEqual(changed?.['permissions'], []);
	const parent = changes.find(({ record }) => record['key'] === 'parent')?.record;
	t.like(parent, { object_resource: 'page', subject_resource: 'document' });
	await ledger.balanced();
});

const wrongResources: Readonly<Record<string, readonly [body: unknown, place: string]>> = {
	'no name': [{ key: 'a', actions: {} }, 'body.name'],
	'no actions': [{ key: 'a', name: 'A' }, 'body.actions'],
	'no key': [{ name: 'A', actions: {} }, 'body.key'],
	'null actions': [{ key: 'a', name: 'A', actions: null }, 'body.actions'],
	'a list of actions': [{ key: 'a', name: 'A', actions: ['read'] }, 'body.actions'],
	'a key with a colon': [{ key: 'a:b', name: 'A', actions: {} }, 'body.key'],
	'an empty key': [{ key: '', name: 'A', actions: {} }, 'body.key'],
	'a long key': [{ key: 'k'.repeat(513), name: 'A', actions: {} }, 'body.key'],
	'a reserved key': [{ key: '__proto__', name: 'A', actions: {} }, 'body.key'],
	'a wrong action key': [{ key: 'a', name: 'A', actions: { 'read it': {} } }, 'body.actions.read it'],
	'an action that is text': [{ key: 'a', name: 'A', actions: { read: 'Read' } }, 'body.actions.read'],
	'a wrong action name': [{ key: 'a', name: 'A', actions: { read: { name: 5 } } }, 'body.actions.read.name'],
	'an attribute without type': [{ key: 'a', name: 'A', actions: {}, attributes: { x: {} } }, 'body.attributes.x.type'],
	'a role without a name': [{ key: 'a', name: 'A', actions: {}, roles: { r: {} } }, 'body.roles.r.name'],
};

journey('an invalid resource is rejected with the location of the problem, and nothing changes', async (t, place) => {
	const ledger = await openLedger(t, place);
	for (const [what, [body, at]] of Object.entries(wrongResources)) {
		const answer = await place.http.post(`${place.schema}/resources`, body);
		fails(t, answer, 422);
		t.true(problemPlaces(answer).includes(at), `${what}: ${JSON.stringify(answer.body)}`);
	}
	await ledger.balanced();
});
