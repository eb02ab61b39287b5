// @rest

import { onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { type Listed, listedKeys, type Paginated, shape } from '../support/listed.js';

/** Tenants and their members. */

const journey = onEachStore();

journey('a new environment has exactly one tenant, `default`', async (t, { http, facts }) => {
	const { body } = await http.get<Listed>(`${facts}/tenants`);
	t.deepEqual(listedKeys(body), ['default']);
	t.is(body[0]?.['attributes'], null);
});

journey('a tenant is created, returned as created, updated and deleted', async (t, place) => {
	const { http, facts } = place;
	const ledger = await openLedger(t, place);
	const path = `${facts}/tenants`;
	const acme = await ledger.wrote(await http.post(path, { key: 'acme', name: 'Acme' }));
	t.is(acme['attributes'], null, 'null if never set');
	t.like(acme, {
		key: 'acme',
		name: 'Acme',
		description: null,
		environment_id: place.id,
		project_id: place.project_id,
	});
	t.is(acme['last_action_at'], acme['created_at']);
	fails(t, await http.post(path, { key: 'acme', name: 'Another' }), 409, 'acme');

	const attributes = { plan: 'gold', seats: 12.5, tags: ['a', { b: null }], ключ: '🔑' };
	const beta = await ledger.wrote(
		await http.post(path, { key: 'Beta-1_x', name: 'Beta', description: 'B', attributes }),
	);
	t.deepEqual(beta['attributes'], attributes);
	const { body: empty } = await http.post(path, { key: 'empty', name: 'E', attributes: {} });
	t.deepEqual(empty['attributes'], {}, 'an empty object differs from an absent value');
	const ledgerAfter = await openLedger(t, place);
	for (const name of ['Beta-1_x', String(beta['id']), String(beta['id']).replaceAll('-', '')]) {
		t.deepEqual(await ledgerAfter.read(await http.get(`${path}/${name}`)), beta, name);
	}
	const described = await ledgerAfter.wrote(await http.patch(`${path}/Beta-1_x`, { description: 'Changed' }));
	t.deepEqual({ ...described, updated_at: null }, { ...beta, description: 'Changed', updated_at: null });
	for (const nothing of [
		{},
		{ description: 'Changed' },
		{ attributes },
		{ name: null },
		{ key: 'gamma' },
		{ nonsense: 1 },
	]) {
		t.deepEqual(
			await ledgerAfter.kept(await http.patch(`${path}/Beta-1_x`, nothing)),
			described,
			JSON.stringify(nothing),
		);
	}
	const overwritten = await ledgerAfter.wrote(await http.patch(`${path}/Beta-1_x`, { attributes: { plan: 'iron' } }));
	t.deepEqual(overwritten['attributes'], { plan: 'iron' });
	const cleared = await ledgerAfter.wrote(
		await http.patch(`${path}/Beta-1_x`, { attributes: null, description: null }),
	);
	t.like(cleared, { name: 'Beta', attributes: null, description: null });
	await ledgerAfter.wrote(await http.delete(`${path}/${beta['id']}`), 204);
	for (const method of ['GET', 'PATCH', 'DELETE']) {
		fails(
			t,
			await http.send(method, `${path}/Beta-1_x`, method === 'PATCH' ? {} : undefined),
			404,
			"could not find 'Tenant'",
		);
	}
	await ledgerAfter.balanced();
});

journey('tenants are listed as an array, or with counts on request', async (t, { http, facts }) => {
	const list = `${facts}/tenants`;
	for (const [key, name, plan] of [
		['acme', 'Acme Inc.', 'gold'],
		['beta', '100% _Beta_', 'gold'],
		['gamma', 'G', 'iron'],
	]) {
		await http.post(list, { key, name, attributes: { plan } });
	}
	const arrays: Readonly<Record<string, readonly string[]>> = {
		'': ['default', 'acme', 'beta', 'gamma'],
		'?include_total_count=false': ['default', 'acme', 'beta', 'gamma'],
		'?search=ACME': ['acme'],
		'?search=%25': ['beta'],
		'?search=_': ['beta'],
		'?search=*inc.': ['acme'],
		'?attr_plan=gold': ['acme', 'beta'],
		'?attr_plan=gold&search=acme': ['acme'],
		'?per_page=3&page=2': ['gamma'],
	};
	for (const [query, keys] of Object.entries(arrays)) {
		t.deepEqual(listedKeys((await http.get<Listed>(list + query)).body), keys, query);
	}
	const counted = await http.get<Paginated>(`${list}?include_total_count=true&per_page=3`);
	t.deepEqual(shape(counted.body), { data: ['default', 'acme', 'beta'], total_count: 4, page_count: 2 });
	for (const query of [
		'page=0',
		'page=-1',
		'page=x',
		'page=1.5',
		'page=',
		'per_page=0',
		'per_page=101',
		'page=1&page=2',
	]) {
		fails(t, await http.get(`${list}?${query}`), 422, 'page');
	}
	for (const flag of ['maybe', '2', ''])
		fails(t, await http.get(`${list}?include_total_count=${flag}`), 422, 'include_total_count');
});

journey('the pages of a long list have no gaps or overlaps, oldest first', async (t, { http, facts }) => {
	const keys = Array.from({ length: 34 }, (_, index) => `t${index}`);
	for (const key of keys) await http.post(`${facts}/tenants`, { key, name: key });
	t.is((await http.get<Listed>(`${facts}/tenants`)).body.length, 30, 'thirty by default');
	const seen: unknown[] = [];
	for (const page of [1, 2, 3, 4, 5]) {
		const { body } = await http.get<Paginated>(`${facts}/tenants?include_total_count=true&per_page=10&page=${page}`);
		t.like(body, { total_count: 35, page_count: 4 });
		seen.push(...listedKeys(body.data));
	}
	t.deepEqual(seen, ['default', ...keys]);
});

journey('a tenant, even `default`, is deleted with its roles', async (t, place) => {
	const { http, schema, facts } = place;
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.post(`${schema}/roles`, { key: 'r', name: 'R' }));
	await ledger.wrote(await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' }));
	const role_assignments = [
		{ role: 'r', tenant: 'default' },
		{ role: 'r', tenant: 'acme' },
	];
	await ledger.wrote(await http.post(`${facts}/users`, { key: 'ann', role_assignments }));
	await ledger.wrote(await http.delete(`${facts}/tenants/default`), 204);
	t.deepEqual((await http.get(`${facts}/users/ann`)).body['roles'], [{ role: 'r', tenant: 'acme' }]);
	t.deepEqual(listedKeys((await http.get<Listed>(`${facts}/tenants`)).body), ['acme']);
	await ledger.wrote(await http.post(`${facts}/tenants`, { key: 'default', name: 'Again' }));
	t.deepEqual(
		(await http.get(`${facts}/users/ann`)).body['roles'],
		[{ role: 'r', tenant: 'acme' }],
		'the recreated tenant does not restore the roles',
	);
	await ledger.balanced();
});

journey('users can be members of a tenant with or without a role in it', async (t, place) => {
	const { http, schema, facts } = place;
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.post(`${schema}/roles`, { key: 'editor', name: 'Editor' }));
	await ledger.wrote(await http.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer' }));
	await ledger.wrote(await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' }));
	const path = `${facts}/tenants/acme/users`;
	t.deepEqual(await ledger.read(await http.get(path)), { data: [], total_count: 0, page_count: 0 });

	const member = { tenant: 'acme', roles: [], status: 'active', resource_instance_roles: [] };
	const ann = await ledger.wrote(await http.post(path, { key: 'ann', first_name: 'Ann', email: 'ann@example.com' }));
	t.like(ann, { key: 'ann', first_name: 'Ann', email: 'ann@example.com' });
	t.deepEqual([ann['roles'], ann['associated_tenants']], [[], [member]]);
	t.deepEqual(await ledger.read(await http.get(`${facts}/users/ann`)), ann);
	t.deepEqual(
		await ledger.kept(await http.post(path, { key: 'ann', first_name: 'Other' })),
		ann,
		'the user is unchanged',
	);

	const ben = { key: 'ben', first_name: 'Ben', role_assignments: [{ role: 'editor', tenant: 'default' }] };
	await ledger.wrote(await http.post(`${facts}/users`, ben));
	t.deepEqual(
		listedKeys((await http.get<Paginated>(path)).body.data),
		['ann'],
		'a role in a different tenant does not count',
	);
	const both = { key: 'ben', role_assignments: [{ role: 'editor', tenant: 'acme' }] };
	const added = await ledger.wrote(await http.post(path, both));
	t.is(added['first_name'], 'Ben');
	t.deepEqual(added['associated_tenants'], [
		{ ...member, tenant: 'default', roles: ['editor'] },
		{ ...member, roles: ['editor'] },
	]);
	await ledger.wrote(await http.post(`${facts}/users`, { ...both, key: 'cy' }));
	await ledger.wrote(await http.post(`${facts}/users`, { key: 'dan' }));
	const found: Readonly<Record<string, readonly string[]>> = {
		'': ['ann', 'ben', 'cy'],
		'?include_resource_instance_roles=true': ['ann', 'ben', 'cy'],
		'?search=BEN': ['ben'],
		'?role=editor': ['ben', 'cy'],
		'?role=viewer': [],
		'?role=chief': [],
		'?per_page=2&page=2': ['cy'],
	};
	for (const [query, keys] of Object.entries(found)) {
		t.deepEqual(listedKeys((await http.get<Paginated>(path + query)).body.data), keys, query);
	}
	t.like(await ledger.read(await http.get(`${path}?per_page=2`)), { total_count: 3, page_count: 2 });

	await ledger.wrote(
		await http.delete(`${facts}/role_assignments`, { user: 'ben', role: 'editor', tenant: 'acme' }),
		204,
	);
	await ledger.wrote(
		await http.delete(`${facts}/role_assignments`, { user: 'cy', role: 'editor', tenant: 'acme' }),
		204,
	);
	t.deepEqual(
		listedKeys((await http.get<Paginated>(path)).body.data),
		['ann', 'ben'],
		'an added user stays a member without a role',
	);
	fails(t, await http.delete(`${path}/cy`), 404, 'cy');

	for (const [method, body] of [['GET'], ['POST', { key: 'ann' }]] as const) {
		fails(t, await http.send(method, `${facts}/tenants/nowhere/users`, body), 404, 'nowhere');
	}
	fails(t, await http.delete(`${facts}/tenants/nowhere/users/ann`), 404, 'nowhere');
	fails(t, await http.delete(`${path}/nobody`), 404, 'nobody');
	const unknown = { key: 'eve', role_assignments: [{ role: 'chief', tenant: 'acme' }] };
	fails(t, await http.post(path, unknown), 404, 'chief');
	fails(t, await http.get(`${facts}/users/eve`), 404, 'eve');
	fails(t, await http.post(path, { key: 'a b' }), 422, 'key');
	await ledger.balanced();
});

journey('a user who leaves a tenant loses only the roles in this tenant', async (t, place) => {
	const { http, schema, facts, store, id } = place;
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.post(`${schema}/roles`, { key: 'editor', name: 'Editor' }));
	await ledger.wrote(await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' }));
	const role_assignments = ['acme', 'default'].map((tenant) => ({ role: 'editor', tenant }));
	for (const key of ['ann', 'ben', 'cy']) {
		await ledger.wrote(await http.post(`${facts}/tenants/acme/users`, { key, role_assignments }));
	}
	const path = `${facts}/tenants/acme/users`;
	await ledger.wrote(await http.delete(`${path}/ann`), 204);
	fails(t, await http.delete(`${path}/ann`), 404, 'ann');
	t.deepEqual((await http.get(`${facts}/users/ann`)).body['roles'], [{ role: 'editor', tenant: 'default' }]);
	t.deepEqual(listedKeys((await http.get<Paginated>(path)).body.data), ['ben', 'cy']);

	await ledger.wrote(await http.delete(`${facts}/users/ben`), 204);
	await ledger.wrote(await http.post(`${facts}/users`, { key: 'ben' }));
	t.deepEqual((await http.get(`${facts}/users/ben`)).body['associated_tenants'], [], 'a recreated user has no tenant');
	await ledger.wrote(await http.delete(`${facts}/tenants/acme`), 204);
	await ledger.wrote(await http.post(`${facts}/tenants`, { key: 'acme', name: 'Again' }));
	t.deepEqual((await http.get<Paginated>(path)).body.data, []);

	const changes: { operation: string; key: string }[] = await store.database
		.knex('changes')
		.where({ environment_id: id, kind: 'tenant_user' })
		.orderBy(['revision', 'position']);
	t.deepEqual(
		changes.map(({ operation, key }) => `${operation} ${key}`),
		['ann', 'ben', 'cy']
			.flatMap((key) => [`create ${key}@acme`])
			.concat(['ann', 'ben', 'cy'].map((key) => `delete ${key}@acme`)),
	);
	await ledger.balanced();
});
