import type { ExecutionContext } from 'ava';
import { delta, document, type Json } from '../../compiler/index.js';
import { touchedSince } from '../../src/store/history/touched-since.js';
import { readModel } from '../../src/store/model/model.js';
import { readNeighbourhood } from '../../src/store/model/neighbourhood.js';
import { patched } from '../property/oracle.js';
import { onEachStore } from '../support/each-store.js';
import type { Place } from '../support/management.js';

/** A past document, patched with the delta for the objects touched since then, equals the current document. */

const journey = onEachStore({ embedded: 'all' });

/** Documents, keyed by revision. Contains the latest document and a few earlier documents. */
type Past = Map<number, Json>;

/** Compares the current document with the result of patching each past document. */
async function look(t: ExecutionContext, { store, id }: Place, past: Past, after: string): Promise<void> {
	await store.snapshot(id, async (unit, { revision }) => {
		const now = document(await readModel(unit));
		for (const [base, before] of past) {
			const touched = await touchedSince(unit, base, 1_000);
			const around = touched && (await readNeighbourhood(unit, touched, null));
			if (touched === null || around === null) throw new Error('a few changes are too many');
			t.deepEqual(patched(before, delta(touched, around)), now, `from ${base}, after ${after}`);
		}
		for (const base of past.keys()) if (base % 8 !== 0) past.delete(base);
		past.set(revision, now);
	});
}

interface Write {
	readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	readonly path: string;
	readonly body?: object;
}

const inFolder = (role: string) => ({ role, on_resource: 'folder', linked_by_relation: 'parent' });

const resources: readonly Write[] = [
	{
		method: 'POST',
		path: 'resources',
		body: {
			key: 'folder',
			name: 'Folder',
			actions: { read: {}, write: {} },
			roles: {
				viewer: { name: 'Viewer', permissions: ['read'] },
				editor: { name: 'Editor', permissions: ['write'], extends: ['viewer'] },
			},
		},
	},
	{
		method: 'POST',
		path: 'resources/folder/relations',
		body: { key: 'parent', name: 'P', subject_resource: 'folder' },
	},
	{
		method: 'POST',
		path: 'resources',
		body: {
			key: 'document',
			name: 'Document',
			actions: { read: {} },
			relations: { parent: 'folder' },
			roles: { reader: { name: 'Reader', granted_to: { users_with_role: [inFolder('viewer')] } } },
		},
	},
	{ method: 'POST', path: 'resources/document/relations', body: { key: 'of', name: 'Of', subject_resource: '__user' } },
	{ method: 'POST', path: 'resources/folder/roles/viewer/implicit_grants', body: inFolder('viewer') },
	{ method: 'POST', path: 'roles', body: { key: 'guest', name: 'Guest' } },
	{ method: 'POST', path: 'roles', body: { key: 'host', name: 'Host' } },
];

const [acme, ann, bob] = ['acme', 'ann', 'bob'];
const held = (user: string, role: string, resource_instance: string) => ({ user, role, resource_instance });
const tuple = (subject: string, object: string) => ({ subject, relation: 'parent', object });

const [sooner, later] = ['2998-01-01T00:00:00Z', '2999-01-01T00:00:00.001Z'];
const expiring = (path: string, body: object, expires_at?: string): Write => ({
	method: 'POST',
	path,
	body: { ...body, expires_at },
});

const get = { url: 'https://x/{id}', url_type: 'regex', http_method: 'get', resource: 'folder' };
const proxy = { name: 'Proxy', secret: 'hidden' };

const facts: readonly Write[] = [
	{ method: 'POST', path: 'users', body: { key: ann } },
	{ method: 'POST', path: 'users', body: { key: bob } },
	{ method: 'POST', path: 'tenants', body: { key: acme, name: acme } },
	{ method: 'POST', path: 'resource_instances', body: { resource: 'folder', key: 'f1', tenant: acme } },
	{ method: 'POST', path: 'resource_instances', body: { resource: 'folder', key: 'f2', tenant: acme } },
	{ method: 'POST', path: 'resource_instances', body: { resource: 'folder', key: 'f3', tenant: acme } },
	{ method: 'POST', path: 'resource_instances', body: { resource: 'folder', key: 'f4', tenant: acme } },
	{ method: 'POST', path: 'relationship_tuples', body: { ...tuple('folder:f1', 'document:d1'), tenant: acme } },
	{ method: 'POST', path: 'relationship_tuples', body: tuple('folder:f1', 'folder:f2') },
	{ method: 'POST', path: 'relationship_tuples', body: tuple('folder:f2', 'folder:f3') },
	{ method: 'POST', path: 'relationship_tuples', body: tuple('folder:f3', 'folder:f4') },
	{ method: 'POST', path: 'relationship_tuples', body: tuple('folder:f4', 'folder:f2') },
	{ method: 'POST', path: 'role_assignments', body: held(ann, 'viewer', 'folder:f1') },
	{ method: 'POST', path: 'role_assignments', body: held(ann, 'editor', 'folder:f1') },
	{ method: 'POST', path: 'role_assignments', body: held(bob, 'viewer', 'folder:f1') },
	{ method: 'POST', path: 'role_assignments', body: held(bob, 'reader', 'document:d1') },
	{ method: 'PATCH', path: 'resource_instances/folder:f1', body: { attributes: { size: 1 } } },
	{ method: 'PATCH', path: 'resource_instances/folder:f3', body: { attributes: { 'a\tb\n': ['\\', null, 1e-21] } } },
	{ method: 'PATCH', path: 'resource_instances/folder:f1', body: { attributes: {} } },
	{ method: 'PATCH', path: 'users/ann', body: { email: 'ann@example.com', attributes: { level: 3 } } },
	{ method: 'PATCH', path: 'users/ann', body: { attributes: { level: 4, first_name: 'Nan' } } },
	{ method: 'PATCH', path: 'users/bob', body: { first_name: 'Bob', last_name: 'B\t' } },
	{ method: 'PATCH', path: 'users/bob', body: { first_name: null, last_name: null } },
	{ method: 'DELETE', path: 'role_assignments', body: held(ann, 'viewer', 'folder:f1') },
	{ method: 'DELETE', path: 'relationship_tuples', body: tuple('folder:f2', 'folder:f3') },
	{ method: 'POST', path: 'relationship_tuples', body: tuple('folder:f2', 'folder:f3') },
	{ method: 'DELETE', path: 'relationship_tuples', body: tuple('folder:f1', 'folder:f2') },
	{ method: 'POST', path: 'relationship_tuples', body: tuple('folder:f1', 'folder:f2') },
	expiring('role_assignments', { user: bob, role: 'guest', tenant: acme }, sooner),
	expiring('role_assignments', { user: bob, role: 'host', tenant: acme }, later),
	expiring('role_assignments', { user: bob, role: 'guest', tenant: acme }, '2999-06-01T00:00:00Z'),
	expiring('role_assignments', { user: ann, role: 'guest', tenant: acme }, later),
	expiring('role_assignments', { user: ann, role: 'guest', tenant: acme }),
	{ method: 'DELETE', path: 'role_assignments', body: { user: bob, role: 'guest', tenant: acme } },
	expiring('role_assignments', held(ann, 'viewer', 'folder:f2'), sooner),
	expiring('role_assignments', held(ann, 'viewer', 'folder:f2'), later),
	{ method: 'DELETE', path: 'relationship_tuples', body: tuple('folder:f1', 'folder:f2') },
	expiring('relationship_tuples', tuple('folder:f1', 'folder:f2'), sooner),
	expiring('relationship_tuples', tuple('folder:f1', 'folder:f4'), later),
	expiring('relationship_tuples', tuple('folder:f1', 'folder:f2'), later),
	expiring('relationship_tuples', tuple('folder:f1', 'folder:f2')),
	{ method: 'DELETE', path: 'relationship_tuples', body: tuple('folder:f1', 'folder:f4') },
	expiring('relationship_tuples', tuple('folder:f1', 'folder:f4'), sooner),
	{ method: 'DELETE', path: 'users/ann' },
	{ method: 'DELETE', path: 'resource_instances/folder:f3' },
	{ method: 'POST', path: 'resource_instances', body: { resource: 'folder', key: 'f3', tenant: acme } },
	{ method: 'POST', path: 'relationship_tuples', body: tuple('folder:f3', 'folder:f4') },
	{ method: 'DELETE', path: 'role_assignments', body: held(bob, 'reader', 'document:d1') },
	{ method: 'POST', path: 'proxy_configs', body: { ...proxy, key: 'pb' } },
	{ method: 'POST', path: 'proxy_configs', body: { ...proxy, key: 'pa', mapping_rules: [get, { ...get, url: '(' }] } },
	{ method: 'PATCH', path: 'proxy_configs/pa', body: { name: 'Other', secret: 'other' } },
	{ method: 'PATCH', path: 'proxy_configs/pa', body: { mapping_rules: [{ ...get, should_delete: true }] } },
	{ method: 'PATCH', path: 'proxy_configs/pb', body: { mapping_rules: [{ ...get, action: 'read', priority: 3 }] } },
	{ method: 'PATCH', path: 'proxy_configs/pb', body: { mapping_rules: [] } },
	{ method: 'DELETE', path: 'proxy_configs/pa' },
];

const ends: readonly Write[] = [
	{ method: 'DELETE', path: 'resources/folder/roles/viewer/implicit_grants', body: inFolder('viewer') },
	{ method: 'POST', path: 'resources/folder/roles/viewer/implicit_grants', body: inFolder('viewer') },
	{
		method: 'PUT',
		path: 'resources/folder/roles/viewer/implicit_grants/conditions',
		body: { no_direct_roles_on_object: true },
	},
	{
		method: 'PUT',
		path: 'resources/folder/roles/viewer/implicit_grants/conditions',
		body: { no_direct_roles_on_object: false },
	},
	{ method: 'DELETE', path: 'resources/folder/relations/parent' },
	{
		method: 'POST',
		path: 'resources/folder/relations',
		body: { key: 'parent', name: 'P', subject_resource: 'folder' },
	},
	{ method: 'POST', path: 'resources/folder/roles/editor/implicit_grants', body: inFolder('editor') },
	{ method: 'DELETE', path: 'resources/folder/roles/editor' },
	{ method: 'DELETE', path: 'resources/document' },
	{ method: 'DELETE', path: 'resources/folder' },
];

journey(
	'after each of many changes, deltas turn documents of earlier revisions into the newest document',
	async (t, place) => {
		const { http } = place;
		const past: Past = new Map();
		await look(t, place, past, 'nothing');
		const writes = [
			...resources.map((write) => [place.schema, write] as const),
			...facts.map((write) => [place.facts, write] as const),
			...ends.map((write) => [place.schema, write] as const),
			[place.facts, { method: 'DELETE', path: 'tenants/acme' }] as const,
		];
		for (const [at, { method, path, body }] of writes) {
			const said = `${method} ${path} ${JSON.stringify(body)}`;
			const answer = await http.send(method, `${at}/${path}`, body);
			t.true(answer.status < 300, `${said}: ${answer.status} ${JSON.stringify(answer.body)}`);
			await look(t, place, past, said);
		}
	},
);

journey('the model contains attributes as stored, and adds a user’s names and email to them', async (t, place) => {
	const { http, facts: at, schema, store, id } = place;
	const attributes = { 'a\tb\n': ['\\', null, 0.1, { z: '"' }], email: 'own@example.com' };
	const made = [
		await http.post(`${schema}/resources`, { key: 'folder', name: 'Folder', actions: {} }),
		await http.post(`${at}/tenants`, { key: 'acme', name: 'Acme' }),
		await http.post(`${at}/users`, { key: 'ann', email: 'ann@example.com', first_name: 'Ann', attributes }),
		await http.post(`${at}/users`, { key: 'bob', email: 'bob@example.com', last_name: '' }),
		await http.post(`${at}/users`, { key: 'nobody' }),
		await http.post(`${at}/resource_instances`, { resource: 'folder', key: 'f1', tenant: 'acme', attributes }),
		await http.post(`${at}/resource_instances`, { resource: 'folder', key: 'f2', tenant: 'acme' }),
	];
	for (const { status, body } of made) t.is(status, 200, JSON.stringify(body));
	const { facts: known } = await store.snapshot(id, readModel);
	t.deepEqual(Object.fromEntries(known.user_attributes.map((row) => [row.user, row.attributes])) as unknown, {
		ann: { first_name: 'Ann', ...attributes },
		bob: { email: 'bob@example.com', last_name: '' },
	});
	t.deepEqual(known.instance_attributes as unknown, [{ type: 'folder', key: 'f1', attributes }]);
});
