// @rest

import { newestChanges } from '../support/changes.js';
import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import type { Listed, Paginated } from '../support/listed.js';
import type { Place } from '../support/management.js';

/** Bulk calls for users and tenants create a single revision, and apply either all items or none. */

const journey = onEachStore();

/**
 * Creates the roles viewer and editor, the tenants default and acme, and the user ann, who is a viewer and member in
 * acme.
 */
async function furnish({ http, schema, facts }: Place): Promise<void> {
	await http.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer' });
	await http.post(`${schema}/roles`, { key: 'editor', name: 'Editor' });
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	const role_assignments = [{ role: 'viewer', tenant: 'acme' }];
	await http.post(`${facts}/tenants/acme/users`, { key: 'ann', email: 'ann@acme.com', role_assignments });
}

async function usersIn({ http, facts }: Place): Promise<readonly unknown[]> {
	const { data } = (await http.get<Paginated>(`${facts}/users?per_page=100`)).body;
	return data.map(({ key, email, attributes, roles }) => ({ key, email, attributes, roles }));
}

const editor = { role: 'editor', tenant: 'default' };
const viewer = { role: 'viewer', tenant: 'acme' };
const plain = { email: null, attributes: {}, roles: [] };

journey('several users can be created with their roles in one request', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const ledger = await openLedger(t, place);
	const path = `${facts}/bulk/users`;
	const operations = [
		{ key: 'auth0|ben', email: 'ben@acme.com', attributes: { age: 5 }, role_assignments: [editor, viewer, editor] },
		{ key: 'cy', email: null },
	];
	t.deepEqual(await ledger.wrote(await http.post(path, { operations })), {});
	t.deepEqual(await newestChanges(place), [
		'create role_assignment auth0|ben#editor@default',
		'create role_assignment auth0|ben#viewer@acme',
		'create user auth0|ben',
		'create user cy',
	]);
	t.deepEqual(await ledger.kept(await http.post(path, { operations: [] })), {});
	const everyone = await usersIn(place);
	t.deepEqual(everyone.slice(1), [
		{ key: 'auth0|ben', email: 'ben@acme.com', attributes: { age: 5 }, roles: [editor, viewer] },
		{ ...plain, key: 'cy' },
	]);

	const refused: readonly (readonly [status: number, named: string, operations: readonly object[]])[] = [
		[409, '`cy`', [{ key: 'di' }, { key: 'cy' }, { key: 'ann' }]],
		[409, '`di`', [{ key: 'di' }, { key: 'ed' }, { key: 'di' }, { key: 'ann' }]],
		[404, 'chief', [{ key: 'di' }, { key: 'ed', role_assignments: [editor, { ...editor, role: 'chief' }] }]],
		[404, 'nowhere', [{ key: 'di', role_assignments: [{ ...editor, tenant: 'nowhere' }] }]],
		[422, 'body.operations.1.key', [{ key: 'di' }, { key: 'a b' }]],
	];
	for (const [status, named, wrong] of refused) {
		const answer = await http.post(path, { operations: wrong });
		fails(t, answer, status, status === 422 ? '' : named);
		if (status === 422) t.deepEqual(problemPlaces(answer), [named]);
	}
	t.deepEqual(await usersIn(place), everyone);
	await ledger.balanced();
});

journey('several users can be created or replaced, each as with PUT', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	await http.post(`${facts}/users`, { key: 'ben', email: 'ben@acme.com', role_assignments: [editor, viewer] });
	await http.post(`${facts}/users`, { key: 'cy', first_name: 'Cy', attributes: { a: [1] } });
	const ledger = await openLedger(t, place);
	const path = `${facts}/bulk/users`;
	const { id: ann, created_at } = (await http.get(`${facts}/users/ann`)).body;
	const operations = [
		{ key: ann, attributes: { level: 2 } },
		{ key: 'ben', email: 'ben@acme.com', role_assignments: [viewer] },
		{ key: 'cy', first_name: 'Cy', attributes: { a: [1] } },
		{ key: 'di', email: 'di@acme.com', role_assignments: [editor] },
	];
	t.deepEqual(await ledger.wrote(await http.put(path, { operations })), {});
	t.deepEqual(await newestChanges(place), [
		'create role_assignment di#editor@default',
		'create user di',
		'delete role_assignment ben#editor@default',
		'update user ann',
	]);
	const everyone = [
		{ key: 'ann', email: null, attributes: { level: 2 }, roles: [viewer] },
		{ key: 'ben', email: 'ben@acme.com', attributes: {}, roles: [viewer] },
		{ ...plain, key: 'cy', attributes: { a: [1] } },
		{ key: 'di', email: 'di@acme.com', attributes: {}, roles: [editor] },
	];
	const [update] = await place.store.database
		.knex('changes')
		.where({ environment_id: place.id, revision: await place.revision(), operation: 'update' });
	t.like(update.before, { id: ann, key: 'ann', email: 'ann@acme.com', attributes: {}, created_at });
	t.like(update.after, { id: ann, key: 'ann', email: null, attributes: { level: 2 }, created_at });
	t.true(update.after.updated_at > update.before.updated_at);
	t.deepEqual(Object.keys(update.before).sort(), Object.keys(update.after).sort());
	t.deepEqual(await usersIn(place), everyone);
	t.like((await http.get(`${facts}/users/ann`)).body, { id: ann, created_at });
	t.deepEqual(await ledger.kept(await http.put(path, { operations })), {}, 'a repeated item counts once');

	const repeated = [
		{ key: 'ed', email: 'ed@acme.com', role_assignments: [editor] },
		{ key: 'ann', email: 'ann@acme.com', role_assignments: [] },
		{ key: 'ed', attributes: { last: true } },
		{ key: ann, attributes: { last: true } },
	];
	await ledger.wrote(await http.put(path, { operations: repeated }));
	t.deepEqual(await usersIn(place), [
		{ ...plain, key: 'ann', attributes: { last: true } },
		...everyone.slice(1),
		{ ...plain, key: 'ed', attributes: { last: true }, roles: [editor] },
	]);

	const before = await usersIn(place);
	for (const key of ['ann', 'new']) {
		const wrong = [{ key: 'ben' }, { key, role_assignments: [{ role: 'chief', tenant: 'acme' }] }];
		fails(t, await http.put(path, { operations: wrong }), 404, 'chief');
	}
	const misshapen = await http.put(path, { operations: [{ key: 'ben' }, { email: 'a@b.co' }] });
	fails(t, misshapen, 422);
	t.deepEqual(problemPlaces(misshapen), ['body.operations.1.key']);
	t.deepEqual(await usersIn(place), before);
	await ledger.balanced();
});

journey('several users can be deleted with all their roles, all or none', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	await http.post(`${facts}/users`, { key: 'ben', role_assignments: [editor] });
	await http.post(`${facts}/users`, { key: 'cy', role_assignments: [editor] });
	const ledger = await openLedger(t, place);
	const path = `${facts}/bulk/users`;
	const { id } = (await http.get(`${facts}/users/ben`)).body;
	fails(t, await http.delete(path, { idents: ['ann', 'nobody', 'noone'] }), 404, 'nobody');
	t.is((await usersIn(place)).length, 3);
	t.deepEqual(await ledger.kept(await http.delete(path, { idents: [] })), {});
	t.deepEqual(await ledger.wrote(await http.delete(path, { idents: ['ann', id, 'ben'] })), {});
	t.deepEqual(await newestChanges(place), [
		'delete role_assignment ann#viewer@acme',
		'delete role_assignment ben#editor@default',
		'delete tenant_user ann@acme',
		'delete user ann',
		'delete user ben',
	]);
	t.deepEqual(await usersIn(place), [{ ...plain, key: 'cy', roles: [editor] }]);
	fails(t, await http.delete(path, { idents: ['cy', 'ann'] }), 404, 'ann');

	await ledger.wrote(await http.put(path, { operations: [{ key: 'ann' }, { key: 'ben' }] }));
	t.deepEqual((await usersIn(place)).slice(1), [
		{ ...plain, key: 'ann' },
		{ ...plain, key: 'ben' },
	]);
	await ledger.balanced();
});

journey('several tenants can be created and deleted in one request, all or none', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const ledger = await openLedger(t, place);
	const path = `${facts}/bulk/tenants`;
	const operations = [
		{ key: 'blue', name: 'Blue', attributes: { plan: 'free' } },
		{ key: 'cyan', name: 'Cyan', description: 'A colour' },
		{ key: 'dark', name: 'Dark' },
	];
	t.deepEqual(await ledger.wrote(await http.post(path, { operations })), {});
	t.deepEqual(await newestChanges(place), ['create tenant blue', 'create tenant cyan', 'create tenant dark']);
	const tenants = async () => (await http.get<Listed>(`${facts}/tenants`)).body.map((tenant) => tenant['key']);
	t.deepEqual(await tenants(), ['default', 'acme', 'blue', 'cyan', 'dark']);
	t.like((await http.get(`${facts}/tenants/blue`)).body, { attributes: { plan: 'free' }, description: null });
	t.like((await http.get(`${facts}/tenants/cyan`)).body, { attributes: null, description: 'A colour' });

	const named = (...keys: readonly string[]) => ({ operations: keys.map((key) => ({ key, name: key })) });
	fails(t, await http.post(path, named('new', 'cyan', 'blue')), 409, '`cyan`');
	fails(t, await http.post(path, named('new', 'other', 'new', 'blue')), 409, '`new`');
	fails(t, await http.delete(path, { idents: ['blue', 'nowhere'] }), 404, 'nowhere');
	t.is((await tenants()).length, 5);

	const { id } = (await http.get(`${facts}/tenants/blue`)).body;
	t.deepEqual(await ledger.wrote(await http.delete(path, { idents: ['acme', id, 'blue'] })), {});
	t.deepEqual(await newestChanges(place), [
		'delete role_assignment ann#viewer@acme',
		'delete tenant acme',
		'delete tenant blue',
		'delete tenant_user ann@acme',
	]);
	t.deepEqual(await tenants(), ['default', 'cyan', 'dark']);
	t.deepEqual((await http.get<unknown>(`${facts}/role_assignments`)).body, []);
	await ledger.balanced();
});

journey('a request accepts at most 3,000 users or 2,000 tenants', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const ledger = await openLedger(t, place);
	const most = { users: 3000, tenants: 2000 };
	for (const [kind, count] of Object.entries(most)) {
		const path = `${facts}/bulk/${kind}`;
		const keys = Array.from({ length: count }, (_, index) => `k${index}`);
		const operations = keys.map((key) => ({ key, name: key, attributes: { key } }));
		for (const method of kind === 'users' ? ['POST', 'PUT'] : ['POST']) {
			const refused = await http.send(method, path, { operations: [...operations, { key: 'more', name: 'More' }] });
			fails(t, refused, 422, String(count));
			t.deepEqual(problemPlaces(refused), ['body.operations']);
		}
		const refused = await http.delete(path, { idents: [...keys, 'more'] });
		fails(t, refused, 422, String(count));
		t.deepEqual(problemPlaces(refused), ['body.idents']);

		const timed = async (method: string, body: object) => {
			const start = performance.now();
			const answer = await http.send(method, path, body);
			t.log(`${method} ${count} ${kind}: ${Math.round(performance.now() - start)} ms`);
			return answer;
		};
		await ledger.wrote(await timed('POST', { operations }));
		if (kind === 'users') {
			const role_assignments = [editor];
			const changed = operations.map(({ key }) => ({ key, attributes: { changed: key }, role_assignments }));
			await ledger.wrote(await timed('PUT', { operations: changed }));
			await ledger.kept(await http.put(path, { operations: changed }));
			const last = { key: 'k2999', attributes: { changed: 'k2999' }, roles: [editor] };
			t.like((await http.get(`${facts}/users/k2999`)).body, last);
			t.is((await newestChanges(place)).length, 2 * count);
		}
		await ledger.wrote(await timed('DELETE', { idents: keys }));
	}
	t.is((await usersIn(place)).length, 1);
	await ledger.balanced();
});
