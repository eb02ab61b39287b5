// @rest

import { newestChanges } from '../support/changes.js';
import { onEachStore } from '../support/each-store.js';
import { fails, problemPlaces } from '../support/failure.js';
import { openLedger } from '../support/ledger.js';
import type { Listed, Paginated } from '../support/listed.js';
import type { Place } from '../support/management.js';
import { addRelation } from '../support/relation.js';

/** Relationship tuples: relationships between instances. */

const journey = onEachStore();

/** Creates folders with parents, documents with parent folders and owners, and the tenants default and acme. */
async function furnish(place: Place) {
	const { http, schema, facts } = place;
	for (const key of ['account', 'folder', 'document']) {
		await http.post(`${schema}/resources`, { key, name: key, actions: {} });
	}
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme', description: 'A' });
	return {
		ofFolders: await addRelation(place, 'folder', 'parent', 'folder'),
		ofDocuments: await addRelation(place, 'document', 'parent', 'folder'),
		owner: await addRelation(place, 'document', 'owner', 'account'),
	};
}

const named = (items: Listed) => items.map(({ subject, relation, object }) => `${object}#${relation}@${subject}`);
const errorCode = ({ body }: { readonly body: unknown }) => (body as { readonly error_code?: unknown }).error_code;

journey('a relationship is created together with the instances that it names, and deleted', async (t, place) => {
	const { http, facts } = place;
	const relations = await furnish(place);
	const ledger = await openLedger(t, place);
	const path = `${facts}/relationship_tuples`;
	const triple = { subject: 'folder:finance', relation: 'parent', object: 'document:budget' };
	const made = await ledger.wrote(await http.post(path, { ...triple, tenant: 'acme' }));
	t.deepEqual(await newestChanges(place), [
		'create relationship_tuple document:budget#parent@folder:finance',
		'create resource_instance document:budget',
		'create resource_instance folder:finance',
	]);
	const { body: subject } = await http.get(`${facts}/resource_instances/folder:finance`);
	const { body: object } = await http.get(`${facts}/resource_instances/document:budget`);
	t.like(subject, { tenant: 'acme', attributes: {} });
	t.like(made, { ...triple, tenant: 'acme', relation_id: relations.ofDocuments, tenant_id: subject['tenant_id'] });
	t.like(made, { subject_id: subject['id'], object_id: object['id'], environment_id: place.id });
	t.false('subject_details' in made, 'only if details are requested');
	t.deepEqual(await ledger.read(await http.get<unknown>(path)), [made]);
	fails(t, await http.post(path, triple), 409, 'document:budget#parent@folder:finance');

	const ids = { subject: subject['id'], relation: relations.ofDocuments, object: object['id'] };
	const hex = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, String(id).replaceAll('-', '')]));
	for (const same of [ids, hex, { ...triple, tenant: 'nowhere' }]) {
		fails(t, await http.post(path, same), 409);
		await ledger.wrote(await http.delete(path, same), 204);
		fails(t, await http.delete(path, triple), 404, 'document:budget#parent@folder:finance');
		t.like(await ledger.wrote(await http.post(path, same)), triple, 'the tenant is ignored if both instances exist');
	}
	t.deepEqual(await newestChanges(place), ['create relationship_tuple document:budget#parent@folder:finance']);
	await ledger.balanced();
});

journey('the subject and object of a relationship must match its relation', async (t, place) => {
	const { http, facts } = place;
	const relations = await furnish(place);
	const path = `${facts}/relationship_tuples`;
	const inAcme = { subject: 'folder:finance', relation: 'parent', object: 'document:budget', tenant: 'acme' };
	t.is((await http.post(path, inAcme)).status, 200);
	await http.post(`${facts}/resource_instances`, { key: 'home', resource: 'folder', tenant: 'default' });
	const ledger = await openLedger(t, place);
	const refused: readonly (readonly [change: object, status: number, named: string, code?: string])[] = [
		[{ object: 'document:new', tenant: undefined }, 404, 'document:new'],
		[{ subject: 'folder:new', tenant: undefined }, 404, 'folder:new'],
		[{ object: 'document:new', tenant: 'nowhere' }, 404, 'nowhere'],
		[{ object: 'report:new' }, 404, 'report'],
		[{ object: 'nothing' }, 404, 'nothing'],
		[{ object: '00000000-0000-4000-8000-000000000000' }, 404, '00000000'],
		[{ relation: 'sibling' }, 404, 'sibling'],
		[{ object: 'account:ann' }, 404, 'parent'],
		[{ relation: relations.ofFolders }, 404, relations.ofFolders],
		[{ relation: 'owner' }, 400, 'folder:finance', 'MISMATCH_RELATION_TYPE'],
		[{ subject: 'account:ann' }, 400, 'account:ann', 'MISMATCH_RELATION_TYPE'],
		[{ subject: 'folder:home' }, 400, 'folder:home', 'MISMATCH_RESOURCE_INSTANCES_TENANTS'],
		[{ subject: 'folder:home', object: 'document:new' }, 400, 'document:new', 'MISMATCH_RESOURCE_INSTANCES_TENANTS'],
	];
	for (const [change, status, text, code] of refused) {
		const body = { ...inAcme, ...change };
		for (const answer of [
			await http.post(path, body),
			await http.post(`${path}/bulk`, { operations: [{ ...inAcme, object: 'document:other' }, body] }),
		]) {
			fails(t, answer, status, text);
			if (code !== undefined) t.is(errorCode(answer), code, JSON.stringify(change));
		}
	}
	for (const field of ['subject', 'relation', 'object']) {
		const missing = await http.post(path, { ...inAcme, [field]: undefined });
		fails(t, missing, 422);
		t.deepEqual(problemPlaces(missing), [`body.${field}`]);
	}
	t.is((await http.get(`${facts}/resource_instances?include_total_count=true`)).body['total_count'], 3);
	await ledger.balanced();
});

journey('relationships can be filtered by several fields, each with several values', async (t, place) => {
	const { http, facts } = place;
	const relations = await furnish(place);
	const path = `${facts}/relationship_tuples`;
	t.deepEqual((await http.get<unknown>(path)).body, []);
	const all = [
		'folder:finance#parent@folder:root',
		'document:budget#parent@folder:finance',
		'document:budget#owner@account:ann',
		'document:plan#parent@folder:home',
	];
	for (const one of all) {
		const [object, relation, subject] = one.split(/[#@]/);
		await http.post(path, { object, relation, subject, tenant: one.includes('plan') ? 'default' : 'acme' });
	}
	const id = (await http.get(`${facts}/resource_instances/document:budget`)).body['id'];
	const found: Readonly<Record<string, readonly string[]>> = {
		'': all,
		'detailed=false&include_total_count=false': all,
		'tenant=acme': all.slice(0, 3),
		'tenant=nowhere': [],
		'subject=folder:finance': [all[1] ?? ''],
		'subject=folder%3Aroot&subject=folder:home': [all[0] ?? '', all[3] ?? ''],
		'relation=parent': [all[0] ?? '', all[1] ?? '', all[3] ?? ''],
		[`relation=${relations.ofDocuments}`]: [all[1] ?? '', all[3] ?? ''],
		'relation=sibling': [],
		'object=document:budget': all.slice(1, 3),
		[`object=${id}`]: all.slice(1, 3),
		'object=document:nothing': [],
		'object_type=document': all.slice(1),
		'object_type=folder&object_type=document&subject_type=folder': [all[0] ?? '', all[1] ?? '', all[3] ?? ''],
		'subject_type=account': [all[2] ?? ''],
		'subject_type=report': [],
		'per_page=3&page=2': all.slice(3),
	};
	for (const [query, expected] of Object.entries(found)) {
		t.deepEqual(named((await http.get<Listed>(`${path}?${query}`)).body), expected, query);
	}
	const counted = (await http.get<Paginated>(`${path}?include_total_count=true&per_page=3`)).body;
	t.deepEqual({ ...counted, data: named(counted.data) }, { data: all.slice(0, 3), total_count: 4, page_count: 2 });
});

journey('details describe instances, relation and tenant', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const path = `${facts}/relationship_tuples`;
	const budget = { key: 'budget', resource: 'document', tenant: 'acme', attributes: { private: true } };
	await http.post(`${facts}/resource_instances`, budget);
	const sent = { subject: 'folder:finance', relation: 'parent', object: 'document:budget', tenant: 'acme' };
	const { body: plain } = await http.post(path, sent);
	const detailed = {
		...plain,
		subject_details: { key: 'finance', resource: 'folder', tenant: 'acme', attributes: {} },
		object_details: budget,
		relation_details: { key: 'parent', name: 'parent', description: null },
		tenant_details: { key: 'acme', name: 'Acme', description: 'A', attributes: {} },
	};
	t.deepEqual((await http.get<unknown>(`${path}?detailed=true`)).body, [detailed]);
	const page = { data: [detailed], total_count: 1, page_count: 1 };
	t.deepEqual((await http.get<unknown>(`${path}?detailed=true&include_total_count=true`)).body, page);
	t.deepEqual((await http.get<unknown>(`${path}/detailed`)).body, page);
	const none = { data: [], total_count: 0, page_count: 0 };
	t.deepEqual((await http.get<unknown>(`${path}/detailed?tenant=default`)).body, none);
});

journey('up to 1,000 relationships can be created or deleted in one request, each once', async (t, place) => {
	const { http, facts } = place;
	await furnish(place);
	const ledger = await openLedger(t, place);
	const path = `${facts}/relationship_tuples/bulk`;
	const most = Array.from({ length: 1000 }, (_, index) => ({
		subject: 'folder:root',
		relation: 'parent',
		object: `document:d${index}`,
		tenant: 'acme',
	}));
	const one = { subject: 'folder:root', relation: 'parent', object: 'document:one', tenant: 'acme' };
	for (const [method, field] of [
		['POST', 'operations'],
		['DELETE', 'idents'],
	] as const) {
		const refused = await http.send(method, path, { [field]: [...most, one] });
		fails(t, refused, 422, '1000');
		t.deepEqual(problemPlaces(refused), [`body.${field}`]);
	}
	const count = async () => (await http.get(`${facts}/relationship_tuples/detailed`)).body['total_count'];
	t.deepEqual(await ledger.wrote(await http.post(path, { operations: [one, one] })), {});
	t.deepEqual(await ledger.kept(await http.post(path, { operations: [one] })), {});
	t.deepEqual(await ledger.wrote(await http.post(path, { operations: most })), {});
	t.is(await count(), 1001);
	const nothing = { ...one, object: 'document:nothing' };
	const idents = [one, nothing, { ...one, relation: 'sibling' }, { ...one, subject: 'report:x' }, one];
	t.deepEqual(await ledger.wrote(await http.delete(path, { idents })), {});
	t.deepEqual(await ledger.kept(await http.delete(path, { idents })), {});
	t.deepEqual(await ledger.wrote(await http.delete(path, { idents: most })), {});
	t.is(await count(), 0);
	t.deepEqual(await ledger.kept(await http.delete(path, { idents: [] })), {});
	await ledger.balanced();
});
