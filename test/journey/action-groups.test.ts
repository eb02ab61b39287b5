// @rest

import type { Loose } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { type Listed, listedKeys } from '../support/listed.js';
import type { Place } from '../support/management.js';

/** Named groups of actions in a resource. */

const journey = onEachStore();

interface Resource extends Loose {
	readonly id: string;
	readonly actions: Readonly<Record<string, { readonly id: string }>>;
}

async function createDocument({ http, schema }: Place): Promise<Resource> {
	const actions = { read: {}, write: {}, print: {}, fax: {} };
	return (await http.post<Resource>(`${schema}/resources`, { key: 'document', name: 'Document', actions })).body;
}

journey('a group contains actions of its resource in order, and the response shows it as created', async (t, place) => {
	const { http, schema } = place;
	const { id: resource_id, actions } = await createDocument(place);
	const path = `${schema}/resources/document/action_groups`;
	const ledger = await openLedger(t, place);
	const sent = { key: 'Office-1', name: 'Office', description: 'At work', attributes: { floor: '2', rank: 1 } };
	const printId = actions['print']?.id ?? '';
	const named = [printId, 'write', printId.replaceAll('-', ''), 'read', 'print'];
	const group = await ledger.wrote(await http.post(path, { ...sent, actions: named }));
	t.like(group, { ...sent, resource_id, environment_id: place.id, actions: ['print', 'write', 'read'] });

	for (const name of ['Office-1', String(group['id']), String(group['id']).replaceAll('-', '')]) {
		t.deepEqual(await ledger.read(await http.get(`${path}/${name}`)), group, name);
	}
	const bare = await ledger.wrote(await http.post(path, { key: 'bare', name: '' }));
	t.like(bare, { name: '', description: null, attributes: null });
	t.deepEqual(bare['actions'], []);
	t.deepEqual((await ledger.read(await http.get(`${schema}/resources/document`)))['action_groups'], {
		'Office-1': ['print', 'write', 'read'],
		bare: [],
	});

	fails(t, await http.post(path, sent), 409, 'Office-1');
	await http.post(`${schema}/resources`, { key: 'page', name: 'Page', actions: { turn: {} } });
	const elsewhere = await http.post(`${schema}/resources/page/action_groups`, { ...sent, actions: ['turn'] });
	t.is(elsewhere.status, 200, 'the key is free in a different resource');
	for (const action of ['turn', 'fly', 'document:read']) {
		fails(t, await http.post(path, { key: 'x', name: 'X', actions: ['read', action] }), 404, action);
		fails(t, await http.patch(`${path}/bare`, { name: 'Not this', actions: [action] }), 404, action);
	}
	fails(t, await http.get(`${path}/x`), 404, 'x');
	t.deepEqual((await http.get(`${path}/bare`)).body, bare, 'all or nothing');
});

journey('PATCH changes only its fields; lists of actions and attributes are replaced as a whole', async (t, place) => {
	const { http, schema } = place;
	await createDocument(place);
	const path = `${schema}/resources/document/action_groups/g`;
	const ledger = await openLedger(t, place);
	const sent = { key: 'g', name: 'G', actions: ['read', 'write'], attributes: { a: 1 } };
	const { updated_at: _, ...made } = await ledger.wrote(
		await http.post<Loose>(`${schema}/resources/document/action_groups`, sent),
	);
	const described = await ledger.wrote(await http.patch<Loose>(path, { description: 'Described' }));
	const { updated_at: __, ...fields } = described;
	t.deepEqual(fields, { ...made, description: 'Described' });
	for (const nothing of [
		{},
		{ name: null, actions: null, key: 'x' },
		{ description: 'Described', actions: ['read', 'write', 'read'], attributes: { a: 1 } },
	]) {
		t.deepEqual(await ledger.kept(await http.patch(path, nothing)), described, JSON.stringify(nothing));
	}
	const turned = await ledger.wrote(await http.patch(path, { actions: ['write', 'read'], attributes: { b: 2 } }));
	t.deepEqual([turned['actions'], turned['attributes']], [['write', 'read'], { b: 2 }], 'the order is kept');
	const cleared = await ledger.wrote(await http.patch(path, { actions: [], attributes: null, description: null }));
	t.deepEqual([cleared['actions'], cleared['attributes'], cleared['description']], [[], null, null]);
	await ledger.balanced();
});

journey('groups are listed as an array, with attributes on request', async (t, place) => {
	const { http, schema } = place;
	await createDocument(place);
	const list = `${schema}/resources/document/action_groups`;
	for (const key of ['a', 'b', 'c']) {
		await http.post(list, { key, name: key, attributes: { kind: key === 'a' ? 'x' : 'y' } });
	}
	const arrays: Readonly<Record<string, readonly string[]>> = {
		'': ['a', 'b', 'c'],
		'?per_page=2&page=2': ['c'],
		'?attr_kind=y': ['b', 'c'],
		'?attr_kind=z': [],
		'?include_total_count=true': ['a', 'b', 'c'],
	};
	for (const [query, keys] of Object.entries(arrays)) {
		t.deepEqual(listedKeys((await http.get<Listed>(list + query)).body), keys, query);
	}
});

/** Returns the groups and roles changed in the newest revision. */
async function changedBy({ store, id, revision }: Place): Promise<readonly string[]> {
	const rows: { kind: string; key: string }[] = await store.database
		.knex('changes')
		.where({ environment_id: id, revision: await revision(), operation: 'update' })
		.orderBy('position');
	return rows.map(({ kind, key }) => `${kind} ${key}`);
}

journey('deleting an action removes it from groups and roles, and the log records this', async (t, place) => {
	const { http, schema } = place;
	await createDocument(place);
	const path = `${schema}/resources/document`;
	for (const [key, actions] of [
		['g', ['print', 'read']],
		['h', ['read']],
	] as const) {
		await http.post(`${path}/action_groups`, { key, name: key, actions });
	}
	await http.post(`${schema}/roles`, { key: 'r', name: 'R', permissions: ['document:print', 'document:read'] });
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.delete(`${path}/actions/print`), 204);
	t.deepEqual((await http.get(path)).body['action_groups'], { g: ['read'], h: ['read'] });
	t.deepEqual(await changedBy(place), ['action_group document:g', 'role r']);
	await ledger.wrote(await http.patch(path, { actions: { write: {} } }));
	t.deepEqual((await http.get(path)).body['action_groups'], { g: [], h: [] });
	t.deepEqual(await changedBy(place), ['action_group document:g', 'action_group document:h', 'role r']);

	await ledger.wrote(await http.post(`${path}/actions`, { key: 'print', name: 'Print again' }));
	t.deepEqual((await http.get(path)).body['action_groups'], { g: [], h: [] }, 'a recreated action is in no group');
	await ledger.wrote(await http.delete(`${path}/action_groups/g`), 204);
	t.deepEqual((await http.get(path)).body['action_groups'], { h: [] });
	for (const method of ['GET', 'PATCH', 'DELETE']) {
		fails(t, await http.send(method, `${path}/action_groups/g`, method === 'PATCH' ? {} : undefined), 404, 'g');
	}
	await ledger.wrote(await http.delete(path), 204);
	fails(t, await http.get(`${path}/action_groups`), 404, 'document');
	await ledger.balanced();
});
