// @rest

import { RelationshipTuple } from '../../src/store/table/relationship-tuple.js';
import { ResourceInstance } from '../../src/store/table/resource-instance.js';
import { RoleDerivation } from '../../src/store/table/role.js';
import type { Loose } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import { listedKeys, type Paginated, shape } from '../support/listed.js';
import type { Place } from '../support/management.js';

/** Relations between resources: the resource in the path is the object. */

const journey = onEachStore();

type Ids = { readonly id: string };

async function resource({ http, schema }: Place, key: string, more: object = {}) {
	const { body } = await http.post<Ids & Loose>(`${schema}/resources`, { key, name: key, actions: {}, ...more });
	return body;
}

journey('a relation is created under the resource of its objects, and returned as created', async (t, place) => {
	const { http, schema } = place;
	const [folder, file] = [await resource(place, 'Folder'), await resource(place, 'file')];
	const path = `${schema}/resources/file/relations`;
	const ledger = await openLedger(t, place);
	const sent = { key: 'parent', name: 'Parent', description: 'Lies in it', subject_resource: 'Folder' };
	const parent = await ledger.wrote(await http.post(path, sent));
	const ends = { object_resource: 'file', object_resource_id: file.id, subject_resource_id: folder.id };
	t.like(parent, { ...sent, ...ends, environment_id: place.id, project_id: place.project_id });
	t.is(parent['created_at'], parent['updated_at']);

	for (const [index, subject_resource] of [folder.id, folder.id.replaceAll('-', ''), 'file'].entries()) {
		const body = { key: `r-${index}`, name: '', subject_resource, description: null };
		const subject = subject_resource === 'file' ? 'file' : 'Folder';
		t.like(await ledger.wrote(await http.post(path, body)), {
			name: '',
			description: null,
			subject_resource: subject,
		});
	}
	for (const named of ['parent', String(parent['id']), String(parent['id']).replaceAll('-', '')]) {
		t.deepEqual(await ledger.read(await http.get(`${path}/${named}`)), parent, named);
		t.deepEqual(await ledger.read(await http.get(`${schema}/resources/${file.id}/relations/${named}`)), parent);
		fails(t, await http.get(`${schema}/resources/Folder/relations/${named}`), 404, named);
	}
	const elsewhere = { ...sent, subject_resource: 'file' };
	await ledger.wrote(await http.post(`${schema}/resources/Folder/relations`, elsewhere));
	fails(t, await http.post(path, sent), 409, 'parent');
	fails(t, await http.post(path, { ...sent, key: 'x', subject_resource: 'nothing' }), 404, 'nothing');
	fails(t, await http.post(path, { ...sent, key: 'x', subject_resource: '__tenant' }), 404, '__tenant');
	fails(t, await http.post(`${schema}/resources/nothing/relations`, sent), 404, 'nothing');
	await ledger.balanced();
});

journey('relations are always listed in pages with counts', async (t, place) => {
	const { http, schema } = place;
	await resource(place, 'folder');
	await resource(place, 'file', { relations: { parent: 'folder', twin: 'file', owner: '__user' } });
	const list = `${schema}/resources/file/relations`;
	const pages: Readonly<Record<string, object>> = {
		'': { data: ['parent', 'twin', 'owner'], total_count: 3, page_count: 1 },
		'?include_total_count=false': { data: ['parent', 'twin', 'owner'], total_count: 3, page_count: 1 },
		'?per_page=2': { data: ['parent', 'twin'], total_count: 3, page_count: 2 },
		'?per_page=2&page=2': { data: ['owner'], total_count: 3, page_count: 2 },
		'?page=3': { data: [], total_count: 3, page_count: 1 },
	};
	for (const [query, page] of Object.entries(pages)) {
		t.deepEqual(shape((await http.get<Paginated>(list + query)).body), page, query);
	}
	const other = await http.get<Paginated>(`${schema}/resources/folder/relations`);
	t.deepEqual(other.body, { data: [], total_count: 0, page_count: 0 }, 'subjects are not listed');
});

journey('relations in a resource body are ordinary relations', async (t, place) => {
	const { http, schema } = place;
	const folder = await resource(place, 'folder');
	const path = `${schema}/resources/file`;
	const relations = { parent: 'folder', twin: 'file', owner: folder.id };
	const ledger = await openLedger(t, place);
	const body = { key: 'file', name: 'File', actions: {}, relations };
	const file = await ledger.wrote(await http.post<Ids & Loose>(`${schema}/resources`, body));
	const toFolder = { resource_id: folder.id, resource: 'folder', description: null };
	t.deepEqual(file['relations'], {
		parent: { ...toFolder, relation_name: 'parent' },
		twin: { resource_id: file.id, resource: 'file', relation_name: 'twin', description: null },
		owner: { ...toFolder, relation_name: 'owner' },
	});
	const parent = await ledger.read(await http.get(`${path}/relations/parent`));
	t.like(parent, { key: 'parent', name: 'parent', object_resource: 'file', subject_resource: 'folder' });
	t.deepEqual((await http.get(`${schema}/resources/folder`)).body['relations'], {});

	const unknown = { key: 'x', name: 'X', actions: {}, relations: { parent: 'folder', other: 'nothing' } };
	fails(t, await http.post(`${schema}/resources`, unknown), 404, 'nothing');
	fails(t, await http.get(`${schema}/resources/x`), 404, 'x');
	fails(t, await http.patch(path, { relations: { other: 'nothing' }, description: 'Not this' }), 404, 'nothing');
	t.deepEqual(await ledger.read(await http.get(path)), file, 'all or nothing');
	await ledger.balanced();
});

journey('PATCH and PUT replace all relations, and relations with the same key keep their id', async (t, place) => {
	const { http, schema } = place;
	await resource(place, 'folder');
	const path = `${schema}/resources/file`;
	await resource(place, 'file', { relations: { parent: 'folder', twin: 'file' } });
	await http.post(`${path}/relations`, { key: 'named', name: 'Named', description: 'So', subject_resource: 'folder' });
	const ledger = await openLedger(t, place);
	const relationId = async (key: string) => (await ledger.read(await http.get(`${path}/relations/${key}`)))['id'];
	const [parent, named] = [await relationId('parent'), await relationId('named')];

	const before = await ledger.read(await http.get(path));
	for (const nothing of [{}, { relations: null }, { relations: { named: 'folder', twin: 'file', parent: 'folder' } }]) {
		t.deepEqual(await ledger.kept(await http.patch(path, nothing)), before, JSON.stringify(nothing));
	}
	const patched = await ledger.wrote(
		await http.patch(path, { relations: { named: 'folder', parent: 'file', new: 'folder' } }),
	);
	t.deepEqual(Object.keys(patched['relations'] as object).sort(), ['named', 'new', 'parent']);
	t.like((patched['relations'] as Loose)['named'], { relation_name: 'Named', description: 'So' });
	t.is(await relationId('named'), named);
	t.not(await relationId('parent'), parent, 'a different subject resource makes a different relation');
	fails(t, await http.get(`${path}/relations/twin`), 404, 'twin');

	const whole = { name: 'File', actions: {}, relations: { named: 'folder' } };
	const put = await ledger.wrote(await http.put(path, whole));
	t.deepEqual(Object.keys(put['relations'] as object), ['named']);
	t.deepEqual(await ledger.kept(await http.put(path, whole)), put);
	t.is(await relationId('named'), named);
	const reset = await ledger.wrote(await http.put(path, { name: 'File', actions: {} }));
	t.deepEqual(reset['relations'], {}, 'PUT resets absent fields');
	await ledger.balanced();
});

/**
 * Creates two resources with an instance each, relates the instance `sub` to the instance `obj` by the relation
 * `parent`, and derives a role through this relation.
 */
async function related(place: Place) {
	const { http, schema, store } = place;
	const folder = await resource(place, 'folder');
	const file = await resource(place, 'file', { relations: { parent: 'folder' } });
	const relation = (await http.get<Ids>(`${schema}/resources/file/relations/parent`)).body;
	const roles = [];
	for (const key of ['keeper', 'reader']) {
		roles.push((await http.post<Ids>(`${schema}/roles`, { key, name: key })).body.id);
	}
	const [role_id = '', source_role_id = ''] = roles;
	const tenant = (await http.get<Ids>(`${place.facts}/tenants/default`)).body.id;
	const { organization_id, project_id, id: environment_id } = place;
	// Writes directly to the store, because this test is about deletions, not about allowed creations.
	await store.write({ organization_id, project_id, environment_id }, null, async (unit) => {
		const instance = (key: string, resource_id: string) =>
			unit.create(ResourceInstance, { key, resource_id, tenant_id: tenant, attributes: {} }, key);
		const [subject, object] = [await instance('sub', folder.id), await instance('obj', file.id)];
		const tuple = { subject_id: subject.id, object_id: object.id, relation_id: relation.id, tenant_id: tenant };
		await unit.insert(RelationshipTuple, [{ ...tuple, ...unit.stamp() }], () => 'tuple');
		const { id, created_at } = unit.stamp();
		const derivation = { id, created_at, role_id, source_role_id, relation_id: relation.id };
		await unit.insert(RoleDerivation, [{ ...derivation, no_direct_roles_on_object: false }], () => 'derivation');
	});
}

/** Returns the newest revision's deletions, by kind and name. */
async function deletions({ store, id, revision }: Place): Promise<readonly string[]> {
	const rows: { kind: string; key: string }[] = await store.database
		.knex('changes')
		.where({ environment_id: id, revision: await revision(), operation: 'delete' })
		.orderBy('position');
	return rows.map(({ kind, key }) => (kind === 'relationship_tuple' ? kind : `${kind} ${key}`));
}

async function remaining({ store, id }: Place, table: string): Promise<number> {
	return (await store.database.knex(table).where({ environment_id: id })).length;
}

const ends: Readonly<Record<string, readonly [method: string, path: string, body: object | undefined]>> = {
	'it is deleted': ['DELETE', '/file/relations/parent', undefined],
	'the resource is replaced without it': ['PUT', '/file', { name: 'File', actions: {} }],
	'its subject resource changes': ['PATCH', '/file', { relations: { parent: 'file' } }],
	'its object resource is deleted': ['DELETE', '/file', undefined],
	'its subject resource is deleted': ['DELETE', '/folder', undefined],
};

for (const [what, [method, path, body]] of Object.entries(ends)) {
	journey(`a relation is deleted with its tuples and derivations, when ${what}`, async (t, place) => {
		await related(place);
		const { http, schema } = place;
		t.is(await remaining(place, 'relationship_tuples'), 1);
		const ledger = await openLedger(t, place);
		const answer = await http.send(method, `${schema}/resources${path}`, body);
		await ledger.wrote(answer, method === 'DELETE' ? 204 : 200);
		const gone = await deletions(place);
		t.true(gone.includes('relation file:parent'), String(gone));
		t.is(gone.filter((name) => name === 'relationship_tuple').length, 1, String(gone));
		t.is(await remaining(place, 'relationship_tuples'), 0);
		t.is(await remaining(place, 'role_derivations'), 0);
		const again = await http.post(`${schema}/resources`, { key: 'folder', name: 'Again', actions: {} });
		t.true([200, 409].includes(again.status));
		await http.post(`${schema}/resources`, { key: 'file', name: 'Again', actions: {} });
		await http.post(`${schema}/resources/file/relations`, { key: 'parent', name: 'P', subject_resource: 'folder' });
		t.is(await remaining(place, 'relationship_tuples'), 0, 'a recreated relation has no tuples');
	});
}

journey('a resource can be deleted even if other resources have relations to it, in any order', async (t, place) => {
	const { http, schema } = place;
	await resource(place, 'account');
	await resource(place, 'folder', { relations: { parent: 'account', twin: 'folder' } });
	await resource(place, 'file', { relations: { parent: 'folder', owner: 'account' } });
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.delete(`${schema}/resources/account`), 204);
	t.deepEqual(listedKeys((await http.get<Paginated>(`${schema}/resources/file/relations`)).body.data), ['parent']);
	t.deepEqual(Object.keys((await http.get(`${schema}/resources/folder`)).body['relations'] as object), ['twin']);
	await ledger.wrote(await http.delete(`${schema}/resources/folder/relations/twin`), 204);
	fails(t, await http.delete(`${schema}/resources/folder/relations/twin`), 404, 'twin');
	await ledger.wrote(await http.delete(`${schema}/resources/folder`), 204);
	await ledger.wrote(await http.delete(`${schema}/resources/file`), 204);
	await ledger.balanced();
});

const wrong: Readonly<Record<string, readonly [body: object, place: string]>> = {
	'no key': [{ name: 'R', subject_resource: 'file' }, 'body.key'],
	'no name': [{ key: 'r', subject_resource: 'file' }, 'body.name'],
	'no subject': [{ key: 'r', name: 'R' }, 'body.subject_resource'],
	'a key with a colon': [{ key: 'a:b', name: 'R', subject_resource: 'file' }, 'body.key'],
	'a list of subjects': [{ key: 'r', name: 'R', subject_resource: ['file'] }, 'body.subject_resource'],
};

journey('an invalid relation is rejected with the location of the problem', async (t, place) => {
	await resource(place, 'file');
	const ledger = await openLedger(t, place);
	for (const [what, [body, at]] of Object.entries(wrong)) {
		const answer = await place.http.post(`${place.schema}/resources/file/relations`, body);
		fails(t, answer, 422);
		t.deepEqual(problemPlaces(answer), [at], what);
	}
	await ledger.balanced();
});
