// @rest

import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import type { Listed, Paginated } from '../support/listed.js';
import type { Place } from '../support/management.js';

/** Role assignments: users with roles in tenants. */

const journey = onEachStore();

/** Creates the users ann, ben and cy, the roles viewer and editor, and the tenants default and acme. */
async function furnish({ http, schema, facts }: Place): Promise<void> {
	await http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {}, write: {} } });
	await http.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['document:read'] });
	await http.post(`${schema}/roles`, { key: 'editor', name: 'Editor', permissions: ['document:write'] });
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	for (const key of ['ann', 'ben', 'cy']) await http.post(`${facts}/users`, { key, first_name: key });
}

const named = (items: Listed) => items.map(({ user, role, tenant }) => `${user}#${role}@${tenant}`);

journey('an assignment refers to user, role and tenant by key and by id', async (t, place) => {
	const { http, schema, facts } = place;
	await furnish(place);
	const ledger = await openLedger(t, place);
	const path = `${facts}/role_assignments`;
	const sent = { user: 'ann', role: 'viewer', tenant: 'acme' };
	const given = await ledger.wrote(await http.post(path, { ...sent, resource_instance: null }));
	const { body: ann } = await http.get(`${facts}/users/ann`);
	const { body: viewer } = await http.get(`${schema}/roles/viewer`);
	const { body: acme } = await http.get(`${facts}/tenants/acme`);
	t.like(given, { ...sent, user_id: ann['id'], role_id: viewer['id'], tenant_id: acme['id'] });
	t.like(given, {
		resource_instance: null,
		resource_instance_id: null,
		environment_id: place.id,
		project_id: place.project_id,
	});
	t.false('updated_at' in given);
	t.deepEqual(await ledger.read(await http.get<unknown>(path)), [given]);
	fails(t, await http.post(path, sent), 409, 'ann');

	const ids = { user: ann['id'], role: viewer['id'], tenant: acme['id'] };
	const hex = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, String(id).replaceAll('-', '')]));
	for (const same of [ids, hex]) {
		fails(t, await http.post(path, same), 409);
		await ledger.wrote(await http.delete(path, same), 204);
		fails(t, await http.delete(path, sent), 404, 'ann');
		t.like(await ledger.wrote(await http.post(path, same)), sent);
	}
	const taken = await ledger.wrote(await http.delete(`${path}?return_deleted=true`, sent), 200);
	t.like(taken, sent);
	await ledger.wrote(await http.post(path, sent));
	await ledger.wrote(await http.delete(`${path}?return_deleted=false`, sent), 204);

	for (const [name, value] of Object.entries({ user: 'nobody', role: 'chief', tenant: 'nowhere' })) {
		fails(t, await http.post(path, { ...sent, [name]: value }), 404, value);
		fails(t, await http.delete(path, { ...sent, [name]: value }), 404, value);
		const missing = await http.post(path, { ...sent, [name]: undefined });
		fails(t, missing, 422);
		t.deepEqual(problemPlaces(missing), [`body.${name}`]);
	}
	await ledger.balanced();
});

journey('assignments can be filtered by several fields, each with several values', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const path = `${facts}/role_assignments`;
	t.deepEqual((await http.get<unknown>(path)).body, []);
	const held = ['ann#viewer@acme', 'ann#editor@acme', 'ann#viewer@default', 'ben#viewer@acme', 'cy#editor@default'];
	for (const one of held) {
		const [user, role, tenant] = one.split(/[#@]/);
		await http.post(path, { user, role, tenant });
	}
	const ann = (await http.get(`${facts}/users/ann`)).body['id'];
	const found: Readonly<Record<string, readonly string[]>> = {
		'': held,
		'detailed=false&include_total_count=false': held,
		'user=ann': held.slice(0, 3),
		[`user=${ann}`]: held.slice(0, 3),
		'role=viewer&role=editor': held,
		'user=ann&user=ben&role=viewer': ['ann#viewer@acme', 'ann#viewer@default', 'ben#viewer@acme'],
		'tenant=default': ['ann#viewer@default', 'cy#editor@default'],
		'tenant=default&tenant=acme&user=cy': ['cy#editor@default'],
		'tenant=nowhere': [],
		'tenant=nowhere&tenant=default': ['ann#viewer@default', 'cy#editor@default'],
		'user=nobody&role=viewer': [],
		'role=chief': [],
		'resource=document': [],
		'resource_instance=document:1': [],
		'per_page=2&page=2': held.slice(2, 4),
		'nonsense=1': held,
	};
	for (const [query, expected] of Object.entries(found)) {
		t.deepEqual(named((await http.get<Listed>(`${path}?${query}`)).body), expected, query);
	}
	const counted = (await http.get<Paginated>(`${path}?include_total_count=true&per_page=2`)).body;
	t.deepEqual({ ...counted, data: named(counted.data) }, { data: held.slice(0, 2), total_count: 5, page_count: 3 });
});

journey('details describe user, role and tenant', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const path = `${facts}/role_assignments`;
	await http.post(path, { user: 'ann', role: 'viewer', tenant: 'acme' });
	const [plain] = (await http.get<Listed>(path)).body;
	const [detailed] = (await http.get<Listed>(`${path}?detailed=true`)).body;
	t.like(detailed, {
		id: plain?.['id'],
		created_at: plain?.['created_at'],
		user: { id: plain?.['user_id'], key: 'ann', email: null, first_name: 'ann', last_name: null, attributes: {} },
		role: { id: plain?.['role_id'], key: 'viewer', name: 'Viewer' },
		tenant: { id: plain?.['tenant_id'], key: 'acme', name: 'Acme', attributes: {} },
		resource_instance: null,
	});
	const { permissions } = (detailed?.['role'] ?? {}) as { permissions?: unknown };
	t.deepEqual(permissions, ['document:read']);
	const page = { data: [detailed], total_count: 1, page_count: 1 };
	t.deepEqual((await http.get<unknown>(`${path}?detailed=true&include_total_count=true`)).body, page);
	t.deepEqual((await http.get<unknown>(`${path}/detailed`)).body, page);
	t.deepEqual((await http.get<unknown>(`${path}/detailed?user=ben`)).body, { data: [], total_count: 0, page_count: 0 });
});

journey('several roles can be assigned and removed in one request, each once, all or none', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const ledger = await openLedger(t, place);
	const path = `${facts}/role_assignments/bulk`;
	const three = ['ann', 'ben', 'cy'].map((user) => ({ user, role: 'viewer', tenant: 'acme', resource_instance: null }));
	t.deepEqual(await ledger.wrote(await http.post(path, three)), { assignments_created: 3 });
	t.deepEqual(await ledger.kept(await http.post(path, three)), { assignments_created: 0 });
	const mixed = [
		...three,
		{ user: 'ann', role: 'editor', tenant: 'acme' },
		{ user: 'ann', role: 'editor', tenant: 'acme' },
	];
	t.deepEqual(await ledger.wrote(await http.post(path, mixed)), { assignments_created: 1 });
	t.deepEqual(await ledger.kept(await http.post(path, [])), { assignments_created: 0 });

	for (const [name, value] of Object.entries({ user: 'nobody', role: 'chief', tenant: 'nowhere' })) {
		const wrong = [
			{ user: 'ben', role: 'editor', tenant: 'acme' },
			{ user: 'cy', role: 'editor', tenant: 'acme', [name]: value },
		];
		fails(t, await http.post(path, wrong), 404, value);
		fails(t, await http.delete(path, [...three, ...wrong]), 404, value);
	}
	const misshapen = await http.post(path, [
		{ user: 'ben', role: 'editor', tenant: 'acme' },
		{ user: 5, role: 'editor' },
	]);
	fails(t, misshapen, 422);
	t.deepEqual(problemPlaces(misshapen), ['body.1.user', 'body.1.tenant']);
	fails(t, await http.post(path, { operations: three }), 422);

	t.deepEqual(await ledger.wrote(await http.delete(path, mixed)), { assignments_removed: 4 });
	t.deepEqual(await ledger.kept(await http.delete(path, mixed)), { assignments_removed: 0 });
	t.deepEqual((await http.get<unknown>(`${facts}/role_assignments`)).body, []);
	await ledger.balanced();
});

journey('a request can assign or remove at most 2,000 roles', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const ledger = await openLedger(t, place);
	const path = `${facts}/role_assignments/bulk`;
	const most = Array.from({ length: 2000 }, (_, index) => ({ user: `u${index}`, role: 'viewer', tenant: 'acme' }));
	const tooMany = [...most, { user: 'ann', role: 'viewer', tenant: 'acme' }];
	for (const method of ['POST', 'DELETE']) {
		const refused = await http.send(method, `${path}?missing_user_policy=create`, tooMany);
		fails(t, refused, 422, '2000');
		t.deepEqual(problemPlaces(refused), ['body']);
	}
	const create = `${path}?missing_user_policy=create`;
	t.deepEqual(await ledger.wrote(await http.post(create, most)), { assignments_created: 2000 });
	t.deepEqual(await ledger.kept(await http.post(create, most)), { assignments_created: 0 });
	t.is((await http.get(`${facts}/tenants/acme/users`)).body['total_count'], 2000);
	t.deepEqual(await ledger.wrote(await http.delete(path, most)), { assignments_removed: 2000 });
	await ledger.wrote(await http.post(path, most));
	await ledger.wrote(await http.delete(`${facts}/tenants/acme`), 204);
	t.deepEqual((await http.get<unknown>(`${facts}/role_assignments`)).body, []);
	await ledger.balanced();
});

journey('the caller chooses the behavior for missing users', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const ledger = await openLedger(t, place);
	const path = `${facts}/role_assignments/bulk?missing_user_policy=`;
	const two = ['ann', 'new|one@b.c'].map((user) => ({ user, role: 'viewer', tenant: 'acme' }));
	fails(t, await http.post(`${path}fail`, two), 404, 'new|one@b.c');
	t.deepEqual(await ledger.wrote(await http.post(`${path}ignore`, two)), { assignments_created: 1 });
	t.deepEqual(await ledger.wrote(await http.post(`${path}create`, two)), { assignments_created: 1 });
	t.like(await ledger.read(await http.get(`${facts}/users/new%7Cone@b.c`)), {
		email: null,
		roles: [{ role: 'viewer', tenant: 'acme' }],
	});
	fails(t, await http.post(`${path}guess`, two), 422, 'missing_user_policy');

	for (const key of ['a b', '🙂'.repeat(200), 'x'.repeat(513), '__proto__']) {
		const refused = await http.post(`${path}create`, [...two, { user: key, role: 'viewer', tenant: 'acme' }]);
		fails(t, refused, 422);
		t.deepEqual(problemPlaces(refused), ['body.2.user'], key);
		t.deepEqual(await ledger.kept(await http.post(`${path}ignore`, [{ user: key, role: 'viewer', tenant: 'acme' }])), {
			assignments_created: 0,
		});
	}
	await ledger.balanced();
});
