import { onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import { ledgerOf } from '../support/ledger.js';
import { keysOf, type Listed, type Paginated, shape } from '../support/listed.js';

/** Tenants: the silos in which users hold roles (spec: Tenants). */

const journey = onEachStore();

journey('a new environment has exactly one tenant, `default`', async (t, { http, facts }) => {
	const { body } = await http.get<Listed>(`${facts}/tenants`);
	t.deepEqual(keysOf(body), ['default']);
	t.is(body[0]?.['attributes'], null);
});

journey('a tenant is made, read as it was made, changed and deleted', async (t, place) => {
	const { http, facts } = place;
	const ledger = await ledgerOf(t, place);
	const path = `${facts}/tenants`;
	const acme = await ledger.wrote(await http.post(path, { key: 'acme', name: 'Acme' }));
	t.is(acme['attributes'], null, 'null when never given');
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
	t.deepEqual(empty['attributes'], {}, 'empty is not the same as never given');
	const ledgerAfter = await ledgerOf(t, place);
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

journey('tenants are listed as an array, or with counts when asked', async (t, { http, facts }) => {
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
		t.deepEqual(keysOf((await http.get<Listed>(list + query)).body), keys, query);
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

journey('a list of more than a page is paged without gap or overlap, oldest first', async (t, { http, facts }) => {
	const keys = Array.from({ length: 34 }, (_, index) => `t${index}`);
	for (const key of keys) await http.post(`${facts}/tenants`, { key, name: key });
	t.is((await http.get<Listed>(`${facts}/tenants`)).body.length, 30, 'thirty unless asked otherwise');
	const seen: unknown[] = [];
	for (const page of [1, 2, 3, 4, 5]) {
		const { body } = await http.get<Paginated>(`${facts}/tenants?include_total_count=true&per_page=10&page=${page}`);
		t.like(body, { total_count: 35, page_count: 4 });
		seen.push(...keysOf(body.data));
	}
	t.deepEqual(seen, ['default', ...keys]);
});

journey('a tenant, also `default`, goes with the roles held in it', async (t, place) => {
	const { http, schema, facts } = place;
	const ledger = await ledgerOf(t, place);
	await ledger.wrote(await http.post(`${schema}/roles`, { key: 'r', name: 'R' }));
	await ledger.wrote(await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' }));
	const role_assignments = [
		{ role: 'r', tenant: 'default' },
		{ role: 'r', tenant: 'acme' },
	];
	await ledger.wrote(await http.post(`${facts}/users`, { key: 'ann', role_assignments }));
	await ledger.wrote(await http.delete(`${facts}/tenants/default`), 204);
	t.deepEqual((await http.get(`${facts}/users/ann`)).body['roles'], [{ role: 'r', tenant: 'acme' }]);
	t.deepEqual(keysOf((await http.get<Listed>(`${facts}/tenants`)).body), ['acme']);
	await ledger.wrote(await http.post(`${facts}/tenants`, { key: 'default', name: 'Again' }));
	t.deepEqual(
		(await http.get(`${facts}/users/ann`)).body['roles'],
		[{ role: 'r', tenant: 'acme' }],
		'and comes back without them',
	);
	await ledger.balanced();
});
