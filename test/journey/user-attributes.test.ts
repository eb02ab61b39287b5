// @rest

import type { Loose } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { type Listed, listedKeys } from '../support/listed.js';

/** User attributes, which belong to the resource `__user`. */

const journey = onEachStore();
const builtIn = ['key', 'roles', 'email', 'first_name', 'last_name'];

journey('user attributes are attributes of `__user` under a separate path', async (t, place) => {
	const { http, schema } = place;
	const [path, resource] = [`${schema}/users/attributes`, `${schema}/resources/__user`];
	const ledger = await openLedger(t, place);
	const given = await ledger.read(await http.get<Listed>(path));
	t.deepEqual(listedKeys(given), builtIn);
	for (const attribute of given) {
		t.true(String(attribute['description']).includes('Built in attribute'), String(attribute['key']));
		t.is(attribute['built_in'], true);
	}
	const sent = { key: 'age', type: 'number', description: 'In years' };
	const age = await ledger.wrote(await http.post<Loose>(path, sent));
	const { id: resource_id } = (await http.get(resource)).body;
	t.like(age, { ...sent, built_in: false, resource_key: '__user', resource_id });
	t.deepEqual(await ledger.read(await http.get(`${resource}/attributes`)), [...given, age]);
	t.deepEqual(await ledger.read(await http.get(path)), [...given, age]);
	t.deepEqual(listedKeys((await http.get<Listed>(`${path}?per_page=2&page=3`)).body), ['last_name', 'age']);
	for (const name of ['age', String(age['id']), String(age['id']).replaceAll('-', '')]) {
		t.deepEqual(await ledger.read(await http.get(`${path}/${name}`)), age, name);
	}
	fails(t, await http.post(path, sent), 409, 'age');
	fails(t, await http.post(`${resource}/attributes`, sent), 409, 'age');

	const patched = await ledger.wrote(await http.patch(`${path}/age`, { type: 'string' }));
	t.like(patched, { id: age['id'], key: 'age', type: 'string', description: 'In years' });
	t.deepEqual(await ledger.kept(await http.patch(`${path}/age`, {})), patched);
	for (const key of builtIn) {
		fails(t, await http.patch(`${path}/${key}`, { description: 'Mine' }), 400, key);
		fails(t, await http.delete(`${path}/${key}`), 400, key);
		fails(t, await http.post(path, { key, type: 'string' }), 409, key);
	}
	await ledger.wrote(await http.delete(`${path}/age`), 204);
	fails(t, await http.get(`${path}/age`), 404, 'age');
	await ledger.balanced();
});

journey('attributes of other resources are not user attributes', async (t, place) => {
	const { http, schema } = place;
	const path = `${schema}/users/attributes`;
	const attributes = { private: { type: 'bool' } };
	const body = { key: 'document', name: 'Document', actions: {}, attributes };
	const document = (
		await http.post<{ id: string; attributes: Record<string, { id: string }> }>(`${schema}/resources`, body)
	).body;
	const { id } = (await http.get<{ id: string }>(`${schema}/resources/__user`)).body;
	for (const same of ['__user', id, id.replaceAll('-', ''), id.toUpperCase()]) {
		t.deepEqual(listedKeys((await http.get<Listed>(`${path}?resource_id=${same}`)).body), builtIn, same);
		t.is((await http.get(`${path}/email?resource_id=${same}`)).status, 200);
	}
	for (const other of ['document', document.id, '__tenant', 'nothing']) {
		for (const [method, at, sent] of [
			['GET', '', undefined],
			['POST', '', { key: 'x', type: 'bool' }],
			['GET', '/email', undefined],
			['PATCH', '/email', {}],
			['DELETE', '/email', undefined],
		] as const) {
			const answer = await http.send(method, `${path}${at}?resource_id=${other}`, sent);
			fails(t, answer, 422, '__user');
			t.deepEqual(problemPlaces(answer), ['query.resource_id']);
		}
	}
	fails(t, await http.get(`${path}/private`), 404, 'private');
	fails(t, await http.delete(`${path}/${document.attributes['private']?.id}`), 404);
});
