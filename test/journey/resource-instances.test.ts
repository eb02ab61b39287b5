// @rest

import { newestChanges } from '../support/changes.js';
import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import type { Listed, Paginated } from '../support/listed.js';
import type { Place } from '../support/management.js';
import { addRelation, addResourceRole } from '../support/relation.js';

/** Resource instances are single objects of a resource type, each in one tenant. */

const journey = onEachStore();

/**
 * Creates the resources document and folder, and the tenants default and acme. Documents have a parent folder and a
 * role editor.
 */
async function furnish(place: Place): Promise<void> {
	const { http, schema, facts } = place;
	for (const key of ['document', 'folder']) await http.post(`${schema}/resources`, { key, name: key, actions: {} });
	await addRelation(place, 'document', 'parent', 'folder');
	await addResourceRole(place, 'document', 'editor');
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	await http.post(`${facts}/users`, { key: 'ann' });
}

const named = (items: Listed) => items.map(({ resource, key }) => `${resource}:${key}`);

journey('an instance can be created, read under all its names, updated and deleted', async (t, place) => {
	const { http, schema, facts } = place;
	await furnish(place);
	const ledger = await openLedger(t, place);
	const path = `${facts}/resource_instances`;
	const sent = { key: 'Budget-1_x', resource: 'document', tenant: 'acme' };
	const made = await ledger.wrote(await http.post(path, { ...sent, attributes: null }));
	const { body: document } = await http.get(`${schema}/resources/document`);
	const { body: acme } = await http.get(`${facts}/tenants/acme`);
	t.like(made, { ...sent, attributes: {}, resource_id: document['id'], tenant_id: acme['id'] });
	t.like(made, { environment_id: place.id, project_id: place.project_id });
	t.false('relationships' in made, 'only if details are requested');
	fails(t, await http.post(path, sent), 409, 'document:Budget-1_x');
	await ledger.wrote(await http.post(path, { ...sent, resource: 'folder', attributes: { size: 3 } }));

	const id = String(made['id']);
	for (const name of [id, id.replaceAll('-', ''), id.toUpperCase(), 'document:Budget-1_x', 'document%3ABudget-1_x']) {
		t.deepEqual(await ledger.read(await http.get(`${path}/${name}`)), made, name);
	}
	fails(t, await http.get(`${path}/Budget-1_x`), 400, 'folder:Budget-1_x');
	await ledger.wrote(await http.delete(`${path}/folder:Budget-1_x`), 204);
	t.deepEqual(await ledger.read(await http.get(`${path}/Budget-1_x`)), made, 'a key of a single instance');

	const changed = await ledger.wrote(await http.patch(`${path}/${id}`, { attributes: { private: true } }));
	t.deepEqual({ ...changed, updated_at: null }, { ...made, attributes: { private: true }, updated_at: null });
	for (const nothing of [{}, { attributes: { private: true } }, { key: 'other', tenant: 'default' }]) {
		t.deepEqual(await ledger.kept(await http.patch(`${path}/${id}`, nothing)), changed, JSON.stringify(nothing));
	}
	t.deepEqual((await ledger.wrote(await http.patch(`${path}/${id}`, { attributes: null })))['attributes'], {});
	for (const [field, value] of Object.entries({ resource: 'report', tenant: 'nowhere' })) {
		fails(t, await http.post(path, { ...sent, key: 'new', [field]: value }), 404, value);
	}
	const misshapen = await http.post(path, { key: 'document:new', attributes: [] });
	fails(t, misshapen, 422);
	t.deepEqual(problemPlaces(misshapen).toSorted(), ['body.attributes', 'body.key', 'body.resource', 'body.tenant']);
	await ledger.wrote(await http.delete(`${path}/document:Budget-1_x`), 204);
	for (const method of ['GET', 'PATCH', 'DELETE']) {
		const gone = await http.send(method, `${path}/document:Budget-1_x`, method === 'PATCH' ? {} : undefined);
		fails(t, gone, 404, "could not find 'ResourceInstance'");
	}
	await ledger.balanced();
});

journey('a key may look like an id, but ids take precedence', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const path = `${facts}/resource_instances`;
	const key = '3b241101-e2bb-4255-8caf-4136c566a962';
	const made = (await http.post(path, { key, resource: 'document', tenant: 'acme' })).body;
	t.deepEqual((await http.get(`${path}/${key}`)).body, made);
	t.deepEqual((await http.get(`${path}/document:${key}`)).body, made);
	const second = (await http.post(path, { key: made['id'], resource: 'document', tenant: 'acme' })).body;
	t.deepEqual((await http.get(`${path}/${made['id']}`)).body, made);
	t.deepEqual((await http.get(`${path}/document:${made['id']}`)).body, second);
});

journey('instances can be listed by tenant, resource and search text, each with several values', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const path = `${facts}/resource_instances`;
	t.deepEqual((await http.get<unknown>(path)).body, []);
	const all = ['document:budget', 'document:Plan_1', 'folder:budget', 'folder:root'];
	for (const name of all) {
		const [resource, key] = name.split(':');
		const made = await http.post(path, { key, resource, tenant: name === 'folder:root' ? 'default' : 'acme' });
		t.is(made.status, 200, JSON.stringify(made.body));
	}
	const id = (await http.get(`${path}/folder:root`)).body['id'];
	const found: Readonly<Record<string, readonly string[]>> = {
		'': all,
		'detailed=false&include_total_count=false': all,
		'tenant=acme': all.slice(0, 3),
		'tenant=acme&tenant=default': all,
		'tenant=nowhere': [],
		'resource=folder': all.slice(2),
		'resource=folder&tenant=acme': ['folder:budget'],
		'resource=report': [],
		'search=BUDGET': ['document:budget', 'folder:budget'],
		'search=folder:': all.slice(2),
		'search=folder:bud&search=plan': ['document:Plan_1', 'folder:budget'],
		'search=_': ['document:Plan_1'],
		'search=b*t': ['document:budget', 'folder:budget'],
		'search=': all,
		[`search=${id}`]: ['folder:root'],
		'per_page=2&page=2': all.slice(2),
	};
	for (const [query, expected] of Object.entries(found)) {
		t.deepEqual(named((await http.get<Listed>(`${path}?${query}`)).body), expected, query);
	}
	const counted = (await http.get<Paginated>(`${path}?include_total_count=true&per_page=3`)).body;
	t.deepEqual({ ...counted, data: named(counted.data) }, { data: all.slice(0, 3), total_count: 4, page_count: 2 });
});

journey('details list every relationship of an instance, in both directions', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	await addRelation(place, 'folder', 'parent', 'folder');
	const path = `${facts}/resource_instances`;
	const up = { subject: 'folder:root', relation: 'parent', object: 'folder:finance' };
	const down = { subject: 'folder:finance', relation: 'parent', object: 'document:budget' };
	const self = { subject: 'folder:finance', relation: 'parent', object: 'folder:finance' };
	for (const tuple of [up, down, self]) await http.post(`${facts}/relationship_tuples`, { ...tuple, tenant: 'acme' });
	const relationships = { 'folder:root': [up], 'folder:finance': [down, self, up], 'document:budget': [down] };
	const { body: plain } = await http.get<Listed>(path);
	const detailed = plain.map((item) => ({
		...item,
		relationships: relationships[`${item['resource']}:${item['key']}` as keyof typeof relationships],
	}));
	t.deepEqual((await http.get<unknown>(`${path}?detailed=true`)).body, detailed);
	const page = { data: detailed, total_count: 3, page_count: 1 };
	t.deepEqual((await http.get<unknown>(`${path}?detailed=true&include_total_count=true`)).body, page);
	t.deepEqual((await http.get<unknown>(`${path}/detailed`)).body, page);
	t.deepEqual((await http.get<unknown>(`${path}/folder:root?detailed=true`)).body, detailed[0]);
	const none = { data: [], total_count: 0, page_count: 0 };
	t.deepEqual((await http.get<unknown>(`${path}/detailed?tenant=default`)).body, none);
});

journey('several instances can be created or replaced in one request, all or none', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const path = `${facts}/bulk/resource_instances`;
	const budget = { key: 'budget', resource: 'document', tenant: 'acme' };
	const kept = (await http.post(`${facts}/resource_instances`, { ...budget, attributes: { a: 1 } })).body;
	const ledger = await openLedger(t, place);
	const operations = [
		{ ...budget, attributes: { b: 2 } },
		{ ...budget, resource: 'folder', attributes: { first: true } },
		{ ...budget, resource: 'folder', attributes: { last: true } },
	];
	t.deepEqual(await ledger.wrote(await http.put(path, { operations })), {});
	t.deepEqual(await newestChanges(place), [
		'create resource_instance folder:budget',
		'update resource_instance document:budget',
	]);
	t.deepEqual(await ledger.kept(await http.put(path, { operations })), {});
	t.deepEqual(await ledger.kept(await http.put(path, { operations: [] })), {});
	t.like(await ledger.read(await http.get(`${facts}/resource_instances/document:budget`)), {
		id: kept['id'],
		attributes: { b: 2 },
	});
	t.like((await http.get(`${facts}/resource_instances/folder:budget`)).body, { attributes: { last: true } });
	await ledger.wrote(await http.put(path, { operations: [budget] }));
	t.like((await http.get(`${facts}/resource_instances/document:budget`)).body, { attributes: {} });

	const extra = { ...budget, key: 'extra' };
	fails(t, await http.put(path, { operations: [extra, { ...budget, resource: 'report' }] }), 404, 'report');
	fails(t, await http.put(path, { operations: [extra, { ...budget, tenant: 'nowhere' }] }), 404, 'nowhere');
	const moved = await http.put(path, { operations: [extra, { ...budget, tenant: 'default' }] });
	fails(t, moved, 400, 'document:budget');
	t.is((moved.body as { error_code: string }).error_code, 'MISMATCH_RESOURCE_INSTANCES_TENANTS');

	await ledger.wrote(await http.put(path, { operations: [extra] }));
	fails(t, await http.delete(path, { idents: ['document:extra', 'document:nothing'] }), 404, 'document:nothing');
	fails(t, await http.delete(path, { idents: ['budget'] }), 400, 'document:budget');
	const idents = ['document:budget', kept['id'], 'extra', 'folder:budget'];
	t.deepEqual(await ledger.wrote(await http.delete(path, { idents })), {});
	t.deepEqual(await ledger.kept(await http.delete(path, { idents: [] })), {});
	t.deepEqual((await http.get<unknown>(`${facts}/resource_instances`)).body, []);
	await ledger.balanced();
});

journey('a request can write or delete at most 3,000 instances', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const path = `${facts}/bulk/resource_instances`;
	const most = Array.from({ length: 3000 }, (_, index) => `i${index}`);
	const operations = most.map((key) => ({ key, resource: 'document', tenant: 'acme' }));
	const idents = most.map((key) => `document:${key}`);
	const tooMany = { operations: [...operations, operations[0]], idents: [...idents, idents[0]] };
	for (const [method, field] of [
		['PUT', 'operations'],
		['DELETE', 'idents'],
	] as const) {
		const refused = await http.send(method, path, tooMany);
		fails(t, refused, 422, '3000');
		t.deepEqual(problemPlaces(refused), [`body.${field}`]);
	}
	const ledger = await openLedger(t, place);
	await ledger.wrote(await http.put(path, { operations }));
	await ledger.kept(await http.put(path, { operations }));
	await ledger.wrote(await http.put(path, { operations: operations.map((one) => ({ ...one, attributes: { a: 1 } })) }));
	t.is((await http.get(`${facts}/resource_instances/detailed`)).body['total_count'], 3000);
	await ledger.wrote(await http.delete(path, { idents: idents.slice(0, 1500) }));
	await ledger.wrote(await http.delete(`${facts}/tenants/acme`), 204);
	t.deepEqual((await http.get<unknown>(`${facts}/resource_instances`)).body, []);
	await ledger.balanced();
});

journey('an instance is deleted with its roles and relationships, and recreated without them', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const instance = { key: 'budget', resource: 'document', tenant: 'acme' };
	const role = { user: 'ann', role: 'editor', resource_instance: 'document:budget', tenant: 'acme' };
	const tuple = { subject: 'folder:finance', relation: 'parent', object: 'document:budget', tenant: 'acme' };
	const gone = [
		'delete relationship_tuple document:budget#parent@folder:finance',
		'delete resource_instance document:budget',
		'delete role_assignment ann#editor@document:budget',
	];
	const path = `${facts}/resource_instances`;
	const ways: readonly (readonly [string, string, unknown, readonly string[]])[] = [
		['DELETE', `${path}/document:budget`, undefined, gone],
		['DELETE', `${facts}/bulk/resource_instances`, { idents: ['document:budget'] }, gone],
		[
			'DELETE',
			`${facts}/tenants/acme`,
			undefined,
			[...gone, 'delete resource_instance folder:finance', 'delete tenant acme'],
		],
		[
			'DELETE',
			`${facts}/bulk/tenants`,
			{ idents: ['acme'] },
			[...gone, 'delete resource_instance folder:finance', 'delete tenant acme'],
		],
	];
	for (const [method, where, body, changes] of ways) {
		await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
		for (const [collection, sent] of [
			['role_assignments', role],
			['relationship_tuples', tuple],
		] as const) {
			t.is((await http.post(`${facts}/${collection}`, sent)).status, 200, `${where} ${collection}`);
		}
		const ledger = await openLedger(t, place);
		await ledger.wrote(await http.send(method, where, body), body === undefined ? 204 : 200);
		t.deepEqual(await newestChanges(place), changes.toSorted(), where);
		await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
		t.is((await http.post(path, instance)).status, 200);
		for (const collection of ['role_assignments', 'relationship_tuples']) {
			t.deepEqual((await http.get<unknown>(`${facts}/${collection}`)).body, [], where);
		}
		await http.delete(`${path}/document:budget`);
	}
});
