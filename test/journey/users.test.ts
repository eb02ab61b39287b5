// @rest

import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { type Listed, listedKeys, type Paginated, shape } from '../support/listed.js';
import type { Place } from '../support/management.js';

/** Users. */

const journey = onEachStore();

async function rolesAndTenants({ http, schema, facts }: Place): Promise<void> {
	for (const key of ['viewer', 'editor']) await http.post(`${schema}/roles`, { key, name: key });
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
}

journey('a user is created, and returned as created', async (t, place) => {
	const { http, facts } = place;
	const ledger = await openLedger(t, place);
	const bare = await ledger.wrote(await http.post(`${facts}/users`, { key: 'ann' }));
	t.like(bare, { key: 'ann', email: null, first_name: null, last_name: null, environment_id: place.id });
	t.deepEqual([bare['attributes'], bare['roles'], bare['associated_tenants']], [{}, [], []]);
	const nulls = {
		key: 'ben',
		email: null,
		first_name: null,
		last_name: null,
		attributes: null,
		role_assignments: null,
	};
	t.deepEqual((await ledger.wrote(await http.post(`${facts}/users`, nulls)))['attributes'], {});

	const attributes = {
		age: 41,
		tags: ['x'],
		nested: { deep: [{ a: null }] },
		'': 'empty name',
		constructor: 'c',
		ratio: -1.5e-7,
	};
	const sent = { key: 'auth0|cy+1@b.c', email: 'cy@example.com', first_name: 'Cy', last_name: 'Ö 🙂', attributes };
	const cy = await ledger.wrote(await http.post(`${facts}/users`, { ...sent, custom: 'ignored' }));
	t.like(cy, { ...sent });
	t.deepEqual(cy['attributes'], attributes);
	t.false('custom' in cy);
	fails(t, await http.post(`${facts}/users`, { key: 'ann' }), 409, 'ann');
	const sameMail = await ledger.wrote(await http.post(`${facts}/users`, { key: 'dan', email: 'cy@example.com' }));
	t.is(sameMail['email'], 'cy@example.com', 'addresses are not unique');
	await ledger.balanced();
});

journey('a user is created with roles in one step; an invalid role creates no user', async (t, place) => {
	const { http, facts } = place;
	await rolesAndTenants(place);
	const ledger = await openLedger(t, place);
	const role_assignments = [
		{ role: 'viewer', tenant: 'acme' },
		{ role: 'editor', tenant: 'acme', resource_instance: null },
		{ role: 'viewer', tenant: 'default' },
		{ role: 'viewer', tenant: 'acme' },
	];
	const ann = await ledger.wrote(await http.post(`${facts}/users`, { key: 'ann', role_assignments }));
	const roles = role_assignments.slice(0, 3).map(({ role, tenant }) => ({ role, tenant }));
	t.deepEqual(ann['roles'], roles);
	const status = { status: 'active', resource_instance_roles: [] };
	t.deepEqual(ann['associated_tenants'], [
		{ tenant: 'acme', roles: ['viewer', 'editor'], ...status },
		{ tenant: 'default', roles: ['viewer'], ...status },
	]);
	t.deepEqual(await ledger.read(await http.get(`${facts}/users/ann`)), ann);

	for (const wrong of [
		{ role: 'chief', tenant: 'acme' },
		{ role: 'viewer', tenant: 'nowhere' },
	]) {
		fails(t, await http.post(`${facts}/users`, { key: 'ben', role_assignments: [...role_assignments, wrong] }), 404);
		fails(t, await http.get(`${facts}/users/ben`), 404, 'ben');
	}
	await ledger.balanced();
});

/** Keys in paths: plain, or partly or fully percent-encoded. */
const written: Readonly<Record<string, readonly string[]>> = {
	'auth0|ann': ['auth0%7Cann', 'auth0|ann'],
	'ann+home@example.com': ['ann+home@example.com', 'ann%2Bhome%40example.com', 'ann+home%40example.com'],
	'a.b-c_d': ['a.b-c_d', 'a%2Eb%2dc%5Fd'],
	'..|..': ['..%7C..'],
	'--': ['--'],
	NULL: ['NULL'],
	null: ['null'],
	constructor: ['constructor'],
	'6f9619ff-8b86-4011-b42d-00c04fc964ff': ['6f9619ff-8b86-4011-b42d-00c04fc964ff'],
	'6F9619FF8B864011B42D00C04FC964AA': ['6F9619FF8B864011B42D00C04FC964AA'],
};

journey('user keys can have the format of any identity provider, and any URL encoding', async (t, place) => {
	const { http, schema, facts } = place;
	await http.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer' });
	const ledger = await openLedger(t, place);
	for (const [key, spellings] of Object.entries(written)) {
		const made = await ledger.wrote(await http.post<{ id: string }>(`${facts}/users`, { key }));
		for (const name of [...spellings, made.id, made.id.replaceAll('-', '').toUpperCase()]) {
			t.deepEqual(await ledger.read(await http.get(`${facts}/users/${name}`)), { ...made }, name);
		}
		const [name = ''] = spellings;
		const given = await ledger.wrote(
			await http.post(`${facts}/users/${name}/roles`, { role: 'viewer', tenant: 'default' }),
		);
		t.is(given['user'], key);
		t.is((await http.get<Listed>(`${facts}/role_assignments?user=${encodeURIComponent(key)}`)).body.length, 1, key);
		await ledger.kept(await http.put(`${facts}/users/${name}`, { key }));
		await ledger.wrote(await http.delete(`${facts}/users/${name}`), 204);
		fails(t, await http.get(`${facts}/users/${name}`), 404);
	}
	for (const key of ['a b', 'a/b', 'a:b', 'ä', '', 'a\n', 'a%40b', 'k'.repeat(513), '__proto__', 5, null, ['a']]) {
		const refused = await http.post(`${facts}/users`, { key });
		fails(t, refused, 422);
		t.deepEqual(problemPlaces(refused), ['body.key'], JSON.stringify(key));
	}
	fails(t, await http.put(`${facts}/users/a:b`, {}), 422, 'a:b');
	fails(t, await http.get(`${facts}/users/a%00b`), 422);
	fails(t, await http.get(`${facts}/users/a%ZZ`), 400, '%ZZ');
	await ledger.balanced();
});

journey('PUT creates a user, or replaces it with the body and resets all absent fields', async (t, place) => {
	const { http, facts } = place;
	await rolesAndTenants(place);
	const ledger = await openLedger(t, place);
	const path = `${facts}/users/auth0%7Cann`;
	const sent = {
		key: 'auth0|ann',
		email: 'ann@example.com',
		first_name: 'Ann',
		last_name: 'Doe',
		attributes: { age: 41 },
	};
	const made = await ledger.wrote(await http.put(path, sent), 201);
	t.like(made, sent);
	t.deepEqual(await ledger.kept(await http.put(path, sent), 200), made);
	await ledger.wrote(await http.post(`${path}/roles`, { role: 'viewer', tenant: 'acme' }));

	const replaced = await ledger.wrote(await http.put(path, { first_name: 'Anna' }), 200);
	t.like(replaced, {
		id: made['id'],
		key: 'auth0|ann',
		first_name: 'Anna',
		email: null,
		last_name: null,
		created_at: made['created_at'],
	});
	t.deepEqual(replaced['attributes'], {});
	t.deepEqual(replaced['roles'], [{ role: 'viewer', tenant: 'acme' }], 'roles are separate objects');
	const other = await ledger.kept(await http.put(path, { key: 'renamed', first_name: 'Anna' }), 200);
	t.is(other['key'], 'auth0|ann', 'a key in the body does not rename the user');
	fails(t, await http.get(`${facts}/users/renamed`), 404, 'renamed');

	const role_assignments = [
		{ role: 'editor', tenant: 'acme' },
		{ role: 'viewer', tenant: 'default' },
	];
	const regiven = await ledger.wrote(await http.put(path, { role_assignments }), 200);
	t.deepEqual(regiven['roles'], role_assignments);
	await ledger.kept(await http.put(path, { role_assignments }), 200);
	t.deepEqual((await ledger.wrote(await http.put(path, { role_assignments: [] }), 200))['roles'], []);
	const byId = await ledger.wrote(await http.put(`${facts}/users/${made['id']}`, { email: 'a@b.co' }), 200);
	t.like(byId, { id: made['id'], key: 'auth0|ann', email: 'a@b.co' });

	const looksLikeAnId = 'cccccccc-1111-4222-8333-444444444444';
	t.is((await ledger.wrote(await http.put(`${facts}/users/${looksLikeAnId}`, {}), 201))['key'], looksLikeAnId);
	await ledger.kept(await http.put(`${facts}/users/${looksLikeAnId}`, {}), 200);
	fails(
		t,
		await http.put(`${facts}/users/new`, { role_assignments: [{ role: 'chief', tenant: 'acme' }] }),
		404,
		'chief',
	);
	fails(t, await http.get(`${facts}/users/new`), 404, 'new');
	await ledger.balanced();
});

journey('PATCH changes only its fields, and null clears a field', async (t, place) => {
	const { http, facts } = place;
	const ledger = await openLedger(t, place);
	const path = `${facts}/users/ann`;
	const sent = {
		key: 'ann',
		email: 'ann@example.com',
		first_name: 'Ann',
		last_name: 'Doe',
		attributes: { a: 1, b: 2 },
	};
	const made = await ledger.wrote(await http.post(`${facts}/users`, sent));
	const patched = await ledger.wrote(await http.patch(path, { last_name: 'Day' }));
	t.deepEqual({ ...patched, updated_at: null }, { ...made, last_name: 'Day', updated_at: null });
	t.true(String(patched['updated_at']) >= String(made['updated_at']));
	for (const nothing of [
		{},
		{ last_name: 'Day' },
		{ attributes: { b: 2, a: 1 } },
		{ key: 'x' },
		{ role_assignments: [] },
	]) {
		t.deepEqual(await ledger.kept(await http.patch(path, nothing)), patched, JSON.stringify(nothing));
	}
	t.deepEqual((await ledger.wrote(await http.patch(path, { attributes: { c: 3 } })))['attributes'], { c: 3 });
	const cleared = await ledger.wrote(
		await http.patch(path, { email: null, first_name: null, last_name: null, attributes: null }),
	);
	t.like(cleared, { key: 'ann', email: null, first_name: null, last_name: null });
	t.deepEqual(cleared['attributes'], {});
	fails(t, await http.patch(`${facts}/users/nobody`, {}), 404, 'nobody');
	await ledger.balanced();
});

journey('an invalid e-mail address is rejected with the message that clients expect', async (t, { http, facts }) => {
	for (const email of ['ann', 'ann@', '@example.com', 'ann@localhost', 'ann@example.test', 'a b@example.com', '']) {
		for (const [method, path] of [
			['POST', 'users'],
			['PUT', 'users/ann'],
			['PATCH', 'users/ann'],
		] as const) {
			const refused = await http.send(method, `${facts}/${path}`, { key: 'ann', email });
			if (method === 'PATCH' && refused.status === 404) continue;
			fails(t, refused, 422, 'value is not a valid email address');
			t.deepEqual(problemPlaces(refused), ['body.email']);
		}
	}
});

journey('users are always listed with counts', async (t, place) => {
	const { http, facts } = place;
	await rolesAndTenants(place);
	const list = `${facts}/users`;
	t.deepEqual((await http.get(list)).body, { data: [], total_count: 0, page_count: 0 }, 'none in a new environment');
	for (let index = 0; index < 10; index += 1) {
		const role_assignments = index < 3 ? [{ role: index < 2 ? 'viewer' : 'editor', tenant: 'acme' }] : [];
		await http.post(list, {
			key: `user-${index}`,
			email: `u${index}@example.com`,
			first_name: `F${index}`,
			role_assignments,
		});
	}
	const all = (await http.get<Paginated>(list)).body;
	t.deepEqual(shape(all), {
		data: Array.from({ length: 10 }, (_, index) => `user-${index}`),
		total_count: 10,
		page_count: 1,
	});
	const viewer = (await http.get<Listed>(`${place.schema}/roles`)).body[0]?.['id'];
	const found: Readonly<Record<string, readonly string[]>> = {
		'?search=user-1': ['user-1'],
		'?search=U3@EXAMPLE': ['user-3'],
		'?search=f4': ['user-4'],
		'?search=*-5': ['user-5'],
		'?role=viewer': ['user-0', 'user-1'],
		[`?role=${viewer}`]: ['user-0', 'user-1'],
		'?role=viewer&search=user-1': ['user-1'],
		'?role=nothing': [],
		'?per_page=4&page=3': ['user-8', 'user-9'],
		'?include_resource_instance_roles=true&search=user-9': ['user-9'],
	};
	for (const [query, keys] of Object.entries(found)) {
		t.deepEqual(listedKeys((await http.get<Paginated>(list + query)).body.data), keys, query);
	}
	t.like((await http.get(`${list}?per_page=4`)).body, { total_count: 10, page_count: 3 });
});

journey('a search operator determines where the search text must occur', async (t, place) => {
	const { http, facts } = place;
	await rolesAndTenants(place);
	const role_assignments = [{ role: 'viewer', tenant: 'acme' }];
	for (const [key, first_name] of [
		['ann', 'Ann-Ben'],
		['ben', 'Ben-Ann'],
		['cy', '5%_*\\'],
		['dora', '5xxx'],
	])
		await http.post(`${facts}/users`, { key, first_name, role_assignments });
	for (const [search, found] of [
		['ann-ben', { contains: ['ann'], startswith: ['ann'], endswith: ['ann'] }],
		['ann', { contains: ['ann', 'ben'], startswith: ['ann'], endswith: ['ann', 'ben'] }],
		['5%_*\\', { contains: ['cy'], startswith: ['cy'], endswith: ['cy'] }],
		['5', { contains: ['cy', 'dora'], startswith: ['cy', 'dora'], endswith: [] }],
		['5*', { contains: [], startswith: [], endswith: [] }],
		['%', { contains: ['cy'], startswith: [], endswith: [] }],
		['', { contains: ['ann', 'ben', 'cy', 'dora'], startswith: ['ann', 'ben', 'cy', 'dora'] }],
	] as const) {
		for (const [operator, keys] of Object.entries(found)) {
			const query = new URLSearchParams({ search, search_operator: operator });
			for (const list of [`${facts}/users`, `${facts}/tenants/acme/users`]) {
				const { body } = await http.get<Paginated>(`${list}?${query}`);
				t.deepEqual(listedKeys(body.data), keys, `${list}?${query}`);
			}
		}
	}
	fails(t, await http.get(`${facts}/users?search=a&search_operator=equals`), 422, 'search_operator');
	fails(t, await http.get(`${facts}/users?serach=a`), 422, 'did you mean `search`?');
	fails(t, await http.get(`${facts}/users?tenants=acme&perPage=5`), 422, 'did you mean `per_page`?');
});

journey('a role can be assigned to a user and removed under the user’s path', async (t, place) => {
	const { http, facts } = place;
	await rolesAndTenants(place);
	const ledger = await openLedger(t, place);
	const ann = await ledger.wrote(await http.post(`${facts}/users`, { key: 'ann' }));
	const path = `${facts}/users/ann/roles`;
	const sent = { role: 'viewer', tenant: 'acme', resource_instance: null };
	const given = await ledger.wrote(await http.post(path, sent));
	t.like(given, { user: 'ann', role: 'viewer', tenant: 'acme', user_id: ann['id'], resource_instance: null });
	fails(t, await http.post(path, sent), 409, 'viewer');
	fails(t, await http.post(path, { role: 'viewer', tenant: null }), 422, 'tenant');
	fails(t, await http.post(path, { role: 'viewer' }), 422, 'tenant');
	for (const wrong of [
		{ ...sent, role: 'chief' },
		{ ...sent, tenant: 'nowhere' },
	]) {
		fails(t, await http.post(path, wrong), 404);
		fails(t, await http.delete(path, wrong), 404);
	}
	fails(t, await http.post(`${facts}/users/nobody/roles`, sent), 404, 'nobody');
	fails(t, await http.delete(path), 422, 'body');

	await ledger.wrote(await http.delete(path, sent), 204);
	fails(t, await http.delete(path, sent), 404, 'viewer');
	await ledger.wrote(await http.post(path, sent));
	const taken = await ledger.wrote(await http.delete(`${path}?return_deleted=true`, sent), 200);
	t.like(taken, { user: 'ann', role: 'viewer', tenant: 'acme' });
	t.deepEqual((await ledger.read(await http.get(`${facts}/users/ann`)))['roles'], []);
	await ledger.balanced();
});

journey('a user is deleted with its roles', async (t, place) => {
	const { http, facts } = place;
	await rolesAndTenants(place);
	const ledger = await openLedger(t, place);
	const role_assignments = [{ role: 'viewer', tenant: 'acme' }];
	for (const key of ['ann', 'ben']) await ledger.wrote(await http.post(`${facts}/users`, { key, role_assignments }));
	await ledger.wrote(await http.delete(`${facts}/users/ann`), 204);
	const left = (await http.get<Listed>(`${facts}/role_assignments`)).body;
	t.deepEqual(
		left.map(({ user }) => user),
		['ben'],
	);
	for (const method of ['GET', 'PATCH', 'DELETE']) {
		fails(t, await http.send(method, `${facts}/users/ann`, method === 'PATCH' ? {} : undefined), 404, 'ann');
	}
	t.deepEqual(
		(await ledger.wrote(await http.post(`${facts}/users`, { key: 'ann' })))['roles'],
		[],
		'the recreated user has no roles',
	);
	await ledger.balanced();
});
