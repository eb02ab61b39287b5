// @rest

import test, { type ExecutionContext } from 'ava';
import type { Loose } from '../support/client.js';
import { fails } from '../support/failure.js';
import { groupRoleName } from '../support/group-role-name.js';
import type { Paginated } from '../support/listed.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/**
 * An environment setting determines which of two nested groups gets the roles of the other group. Changing the setting
 * does not affect existing nestings. Lists and removals work with any setting (docs/develop/groups.md).
 */

const environmentPath = '/v2/projects/default/envs/dev';
const outer = `${schema}/groups/group:outer`;
const inner = `${schema}/groups/group:inner`;
const assigned = { group_instance_key: 'group:inner' };

/** Creates the groups `outer` with ann and `inner` with ben. `outer` may read a budget, and `inner` may read a plan. */
async function furnished(t: ExecutionContext) {
	const stack = await startStack();
	t.teardown(stack.stop);
	const { environment: http } = stack;
	const roles = { viewer: { name: 'Viewer', permissions: ['read'] } };
	await http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} }, roles });
	await http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' });
	for (const [group, user, key] of [
		[outer, 'ann', 'budget'],
		[inner, 'ben', 'plan'],
	] as const) {
		await http.post(`${facts}/users`, { key: user });
		await http.post(`${facts}/resource_instances`, { key, resource: 'document', tenant: 'acme' });
		await http.post(`${schema}/groups`, { group_instance_key: group.split(':')[1], group_tenant: 'acme' });
		await http.put(`${group}/users/${user}`, { tenant: 'acme' });
		const given = { resource: 'document', resource_instance: key, role: 'viewer', tenant: 'acme' };
		await http.post(`${group}/roles`, given);
	}
	return stack;
}

/** Returns the users who may read each document at a revision, as `user instance`. */
async function readers({ pdp, reached }: Stack, revision: number | undefined): Promise<readonly string[]> {
	await reached(revision);
	const found: string[] = [];
	for (const [user, key] of [
		['ann', 'budget'],
		['ann', 'plan'],
		['ben', 'budget'],
		['ben', 'plan'],
	]) {
		const { body } = await pdp.post<Loose>('/allowed', {
			user,
			action: 'read',
			resource: { type: 'document', key, tenant: 'acme' },
		});
		if (body['allow'] === true) found.push(`${user} ${key}`);
	}
	return found;
}

const apart = ['ann budget', 'ben plan'];
const innerJoinsOuter = ['ann budget', 'ben budget', 'ben plan'];
const outerJoinsInner = ['ann budget', 'ann plan', 'ben plan'];

/** Returns the listed children and parents for both groups. */
async function lists({ environment: http }: Stack): Promise<object> {
	const names = async (path: string) =>
		(await http.get<Paginated>(path)).body.data.map((group) => group['group_instance_key']);
	return {
		outer: { children: await names(`${outer}/children`), parents: await names(`${outer}/parents`) },
		inner: { children: await names(`${inner}/children`), parents: await names(`${inner}/parents`) },
	};
}

const together = { outer: { children: ['inner'], parents: [] }, inner: { children: [], parents: ['outer'] } };
const none = { outer: { children: [], parents: [] }, inner: { children: [], parents: [] } };

function set({ environment: http }: Stack, settings: object | null) {
	return http.patch<Loose>(environmentPath, { settings });
}

const directions = [
	['by default', null, innerJoinsOuter],
	['with child_joins_parent', { group_nesting: 'child_joins_parent' }, innerJoinsOuter],
	['with parent_joins_child', { group_nesting: 'parent_joins_child', other: 1 }, outerJoinsInner],
] as const;

test('the setting determines which group inherits the other group’s roles, and affects no list', async (t) => {
	const stack = await furnished(t);
	const { environment: http } = stack;
	for (const [title, settings, expected] of directions) {
		t.is((await set(stack, settings)).status, 200, title);
		const put = await http.put<Loose>(`${outer}/assign_group`, assigned);
		t.is(put.status, 200, title);
		t.deepEqual(await readers(stack, put.revision), expected, title);
		t.deepEqual(await lists(stack), together, title);
		const removed = await http.delete(`${outer}/assign_group`, assigned);
		t.is(removed.status, 204, title);
		t.deepEqual(await readers(stack, removed.revision), apart, title);
		t.deepEqual(await lists(stack), none, title);
		fails(t, await http.delete(`${outer}/assign_group`, assigned), 404, 'group:inner');
	}
	const { body } = await http.get<Loose[]>(`${schema}/resources/group/relations`);
	t.deepEqual((body as unknown as Paginated).data, [], 'its created objects were deleted with it');
});

test('changing the setting does not affect existing nestings, which can still be removed', async (t) => {
	const stack = await furnished(t);
	const { environment: http } = stack;
	for (const [before, after, held] of [
		['child_joins_parent', 'parent_joins_child', innerJoinsOuter],
		['parent_joins_child', 'child_joins_parent', outerJoinsInner],
	] as const) {
		await set(stack, { group_nesting: before });
		await http.put(`${outer}/assign_group`, assigned);
		const { revision } = await set(stack, { group_nesting: after });
		t.deepEqual(await readers(stack, revision), held, before);
		t.deepEqual(await lists(stack), together, before);
		const removed = await http.delete(`${outer}/assign_group`, assigned);
		t.is(removed.status, 204, before);
		t.deepEqual(await readers(stack, removed.revision), apart, before);
		t.deepEqual(await lists(stack), none, before);
	}
});

test('nesting the groups again with a different setting replaces the direction', async (t) => {
	const stack = await furnished(t);
	const { environment: http } = stack;
	for (const [, settings, expected] of [...directions, directions[0]]) {
		await set(stack, settings);
		const { status, revision } = await http.put<Loose>(`${outer}/assign_group`, assigned);
		t.is(status, 200);
		t.deepEqual(await readers(stack, revision), expected, JSON.stringify(settings));
		t.deepEqual(await lists(stack), together);
	}
	await set(stack, { group_nesting: 'parent_joins_child' });
	await http.put(`${outer}/assign_group`, assigned);
	const back = await http.put<Loose>(`${inner}/assign_group`, { group_instance_key: 'group:outer' });
	t.deepEqual(await readers(stack, back.revision), ['ann budget', 'ann plan', 'ben budget', 'ben plan']);
	const both = { children: ['outer'], parents: ['outer'] };
	t.deepEqual(await lists(stack), { outer: { children: ['inner'], parents: ['inner'] }, inner: both });
	const deleted = await http.delete(inner);
	t.is(deleted.status, 204);
	t.deepEqual(await readers(stack, deleted.revision), ['ann budget']);
});

test('the direction survives export and import', async (t) => {
	const stack = await furnished(t);
	const { environment: http, organization } = stack;
	await set(stack, { group_nesting: 'parent_joins_child' });
	await http.put(`${outer}/assign_group`, assigned);
	const { body: document } = await http.get<object>(`${environmentPath}/export`);
	await organization.post('/v2/projects/default/envs', { key: 'again', name: 'Again' });
	const imported = await organization.post<Loose>('/v2/projects/default/envs/again/import', document);
	t.is(imported.status, 200, JSON.stringify(imported.body));
	const again = `${schema.replace('/dev', '/again')}/groups/group`;
	const children = await organization.get<Paginated>(`${again}:outer/children`);
	t.is(children.body.data[0]?.['group_instance_key'], 'inner');
	const roles = await organization.get<Paginated>(`${again}:outer/roles`);
	t.deepEqual(roles.body.data.map(groupRoleName).sort(), ['document:budget#viewer', 'group:inner#member']);
	const removed = await organization.delete(`${again}:outer/assign_group`, assigned);
	t.is(removed.status, 204);
});

test('other values for the setting are rejected', async (t) => {
	const stack = await startStack();
	t.teardown(stack.stop);
	for (const value of ['parent', '', 'Child_Joins_Parent', 1, true, [], {}]) {
		const problem = ['body', 'settings', 'group_nesting'];
		const patched = await set(stack, { group_nesting: value });
		fails(t, patched, 422, 'group_nesting');
		const created = await stack.organization.post<Loose>('/v2/projects/default/envs', {
			key: 'new',
			name: 'New',
			settings: { group_nesting: value },
		});
		fails(t, created, 422, 'group_nesting');
		for (const { body } of [patched, created]) {
			t.deepEqual((body['detail'] as readonly { readonly loc: unknown }[])[0]?.loc, problem);
		}
	}
	t.is((await set(stack, { group_nesting: null, other: { a: 1 } })).status, 200);
	t.is((await set(stack, null)).status, 200);
});
