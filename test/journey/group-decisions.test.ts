// @rest

import type { Loose } from '../support/client.js';
import { onEachStack } from '../support/each-store.js';
import type { Paginated } from '../support/listed.js';
import { facts, schema } from '../support/stack.js';

/**
 * Effects of group membership. Every member may do everything that the group's role grants. This includes later
 * members, and members of nested groups. Deleting a link also ends the access derived from it.
 */

onEachStack(`members of groups and nested groups have the permissions of the groups' roles`, async (t, stack) => {
	const { environment: http, pdp } = stack;
	let revision: number | undefined;
	const wrote = async (answer: Promise<{ readonly status: number; readonly revision: number | undefined }>) => {
		const { status, revision: written } = await answer;
		t.true(status < 300, `a write returned ${status}`);
		revision = written ?? revision;
	};
	const at = (group: string, part = '') => `${schema}/groups/group:${group}${part}`;

	const actions = { read: {}, write: {} };
	const roles = {
		viewer: { name: 'Viewer', permissions: ['read'] },
		editor: { name: 'Editor', permissions: ['read', 'write'] },
	};
	await wrote(http.post(`${schema}/resources`, { key: 'document', name: 'Document', actions, roles }));
	await wrote(http.post(`${facts}/tenants`, { key: 'acme', name: 'Acme' }));
	for (const key of ['ann', 'ben', 'cy']) await wrote(http.post(`${facts}/users`, { key }));
	for (const key of ['budget', 'plan']) {
		await wrote(http.post(`${facts}/resource_instances`, { key, resource: 'document', tenant: 'acme' }));
	}

	/**
	 * Returns all allowed combinations as `user action instance`, according to single checks. Asserts that the listings
	 * agree.
	 */
	const allowed = async () => {
		await stack.reached(revision);
		const found: string[] = [];
		for (const key of ['budget', 'plan']) {
			for (const action of ['read', 'write']) {
				const resource = { type: 'document', key, tenant: 'acme' };
				const authorized = await pdp.post<Loose>('/authorized_users', { action, resource });
				for (const user of ['ann', 'ben', 'cy']) {
					const { body } = await pdp.post<Loose>('/allowed', { user, action, resource });
					if (body['allow'] === true) found.push(`${user} ${action} ${key}`);
					const permissions = await pdp.post<Record<string, { permissions: string[] }>>('/user-permissions', {
						user: { key: user },
					});
					const listed = permissions.body[`document:${key}`]?.permissions.includes(`document:${action}`) ?? false;
					t.is(listed, body['allow'] === true, `permissions of ${user}: ${action} ${key}`);
					const users = authorized.body['users'] as Record<string, unknown>;
					t.is(Object.hasOwn(users, user), body['allow'] === true, `authorized: ${user} ${action} ${key}`);
				}
			}
		}
		return found;
	};

	const give = (role: string, key: string) => ({
		resource: 'document',
		resource_instance: key,
		role,
		tenant: 'acme',
	});
	const tenant = { tenant: 'acme' };
	for (const key of ['staff', 'interns', 'board']) {
		await wrote(http.post(`${schema}/groups`, { group_instance_key: key, group_tenant: 'acme' }));
	}
	await wrote(http.put(at('staff', '/users/ann'), tenant));
	t.deepEqual(await allowed(), [], 'a member of a group without roles');
	await wrote(http.post(at('staff', '/roles'), give('viewer', 'budget')));
	t.deepEqual(await allowed(), ['ann read budget']);
	await wrote(http.put(at('staff', '/users/ben'), tenant));
	t.deepEqual(await allowed(), ['ann read budget', 'ben read budget'], 'a later member');

	await wrote(http.put(at('board', '/users/cy'), tenant));
	await wrote(http.post(at('board', '/roles'), give('editor', 'budget')));
	const both = ['ann read budget', 'ben read budget', 'cy read budget', 'cy write budget'];
	t.deepEqual(await allowed(), both, 'two groups with two roles on one instance do not share them');
	await wrote(http.post(at('board', '/roles'), give('viewer', 'plan')));
	t.deepEqual(await allowed(), [...both, 'cy read plan'], 'two instances do not share roles either');

	await wrote(http.delete(at('staff', '/users/ben'), tenant));
	await wrote(http.put(at('interns', '/users/ben'), tenant));
	t.false((await allowed()).includes('ben read budget'), 'a former member');
	await wrote(http.put(at('staff', '/assign_group'), { group_instance_key: 'group:interns' }));
	t.true((await allowed()).includes('ben read budget'), 'a member of a nested group');
	await wrote(http.put(at('board', '/assign_group'), { group_instance_key: 'group:staff' }));
	t.deepEqual(
		(await allowed()).filter((line) => line.startsWith('ben')),
		['ben read budget', 'ben write budget', 'ben read plan'],
		'a member of a group that is nested twice',
	);
	await wrote(http.put(at('interns', '/assign_group'), { group_instance_key: 'group:board' }));
	t.true((await allowed()).includes('cy write budget'), 'groups in a ring');
	await wrote(http.delete(at('interns', '/assign_group'), { group_instance_key: 'group:board' }));

	const children = (await http.get<Paginated>(at('board', '/children'))).body.data;
	t.deepEqual(
		children.map((group) => group['group_instance_key']),
		['staff'],
	);

	await wrote(http.delete(at('board', '/assign_group'), { group_instance_key: 'group:staff' }));
	t.deepEqual(await allowed(), [...both, 'cy read plan']);
	await wrote(http.delete(at('staff', '/assign_group'), { group_instance_key: 'group:interns' }));
	await wrote(http.delete(at('board', '/roles'), give('editor', 'budget')));
	t.deepEqual(await allowed(), ['ann read budget', 'cy read plan']);
	await wrote(http.delete(at('board')));
	t.deepEqual(await allowed(), ['ann read budget']);
	await wrote(http.delete(at('staff', '/users/ann'), tenant));
	t.deepEqual(await allowed(), []);
	for (const key of ['staff', 'interns']) await wrote(http.delete(at(key)));
	const left = await http.get<Loose[]>(`${schema}/resources`);
	t.deepEqual(
		left.body.map((resource) => resource['key']),
		['document'],
		'objects created for groups were deleted with the last group',
	);
});
