// @rest

import test from 'ava';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/**
 * Permission listings from the decision point reflect every link that is added or removed through the management API.
 */

let stack: Stack;

test.before('create documents in nested folders with viewers who can read the contents', async () => {
	stack = await startStack();
	const roles = { viewer: { name: 'Viewer', permissions: ['list'] } };
	await made(`${schema}/resources`, { key: 'folder', name: 'Folder', actions: { list: { name: 'List' } }, roles });
	const reader = { reader: { name: 'Reader', permissions: ['read'] } };
	const actions = { read: { name: 'Read' } };
	await made(`${schema}/resources`, { key: 'document', name: 'Document', actions, roles: reader });
	for (const object of ['folder', 'document']) {
		const parent = { key: 'parent', name: 'Parent', subject_resource: 'folder' };
		await made(`${schema}/resources/${object}/relations`, parent);
	}
	const grant = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' };
	await made(`${schema}/resources/folder/roles/viewer/implicit_grants`, grant);
	await made(`${schema}/resources/document/roles/reader/implicit_grants`, grant);
	await made(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	for (const key of ['ann', 'ben']) await made(`${facts}/users`, { key });
	for (const [object, subject] of [
		['folder:inner', 'folder:outer'],
		['document:plan', 'folder:inner'],
	]) {
		await made(`${facts}/relationship_tuples`, { subject, relation: 'parent', object, tenant: 'acme' });
	}
});

async function made(path: string, body: object): Promise<void> {
	const answer = await stack.environment.post(path, body);
	if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
}

test.after.always(async () => stack.stop());

interface Users {
	readonly users: Readonly<Record<string, readonly object[]>>;
}

const plan = { type: 'document', key: 'plan', tenant: 'acme' };

/** Returns the listings for a user, at a revision or later. */
async function listings(revision: number | undefined, user: string) {
	await stack.reached(revision);
	const { pdp } = stack;
	const permissions = await pdp.post<Record<string, { roles: string[] }>>('/user-permissions', { user });
	const tenants = await pdp.post<{ key: string }[]>('/user-tenants', { user });
	const users = await pdp.post<Users>('/authorized_users', { action: 'read', resource: plan });
	const assignments = await pdp.get<object[]>(`/local/role_assignments?user=${user}`);
	return {
		objects: Object.entries(permissions.body).map(([id, { roles }]) => `${id}#${roles}`),
		tenants: tenants.body.map(({ key }) => key),
		users: users.body.users,
		assignments: assignments.body,
	};
}

const inOuter = { user: 'ann', role: 'viewer', tenant: 'acme', resource_instance: 'folder:outer' };
const granted = { ann: [{ user: 'ann', tenant: 'acme', resource: 'folder:outer', role: 'folder#viewer' }] };

test('listings follow assignments and relationships', async (t) => {
	const { environment: http } = stack;
	const nothing = { objects: [], tenants: [], users: {}, assignments: [] };
	t.deepEqual(await listings(undefined, 'ann'), nothing);

	const assigned = await http.post(`${facts}/role_assignments`, inOuter);
	t.is(assigned.status, 200);
	const expected = { tenants: ['acme'], users: granted, assignments: [inOuter] };
	const all = ['document:plan#reader', 'folder:inner#viewer', 'folder:outer#viewer'];
	t.deepEqual(await listings(assigned.revision, 'ann'), { ...expected, objects: all });
	t.deepEqual(await listings(assigned.revision, 'ben'), { ...nothing, users: granted });

	const tuple = { subject: 'folder:inner', relation: 'parent', object: 'document:plan' };
	const unlinked = await http.delete(`${facts}/relationship_tuples`, tuple);
	t.deepEqual(await listings(unlinked.revision, 'ann'), { ...expected, objects: all.slice(1), users: {} });

	const linked = await http.post(`${facts}/relationship_tuples`, tuple);
	t.deepEqual(await listings(linked.revision, 'ann'), { ...expected, objects: all });

	const rule = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' };
	const underived = await http.delete(`${schema}/resources/folder/roles/viewer/implicit_grants`, rule);
	t.deepEqual(await listings(underived.revision, 'ann'), { ...expected, objects: all.slice(2), users: {} });

	const taken = await http.delete(`${facts}/role_assignments`, inOuter);
	t.deepEqual(await listings(taken.revision, 'ann'), nothing);
});
