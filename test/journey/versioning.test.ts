// @rest

import { onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';

/** Version 1 is gone. The responses on its paths name the successors. */

const journey = onEachStore();

const schema = '/v2/schema/{proj_id}/{env_id}';
const facts = '/v2/facts/{proj_id}/{env_id}';

/** All known version 1 paths with their successors; `null` if the type is unknown. */
const paths: readonly (readonly [old: string, successor: string | null])[] = [
	['/v1/users', `${facts}/users`],
	['/v1/users/alice', `${facts}/users`],
	['/v1/users/alice/roles', `${facts}/users/{user_id}/roles`],
	['/v1/projects/shop/environments/dev/users/alice', `${facts}/users`],
	['/v1/tenants', `${facts}/tenants`],
	['/v1/tenants/acme/users', `${facts}/tenants/{tenant_id}/users`],
	['/v1/role_assignments', `${facts}/role_assignments`],
	['/v1/roleAssignments', `${facts}/role_assignments`],
	['/v1/Role-Assignments/x', `${facts}/role_assignments`],
	['/v1/roles', `${schema}/roles`],
	['/v1/roles/admin/permissions', `${schema}/roles/{role_id}/permissions`],
	['/v1/resources', `${schema}/resources`],
	['/v1/resources/document/actions/read', `${schema}/resources/{resource_id}/actions`],
	['/v1/resources/document/roles', `${schema}/resources/{resource_id}/roles`],
	['/v1/condition_sets', `${schema}/condition_sets`],
	['/v1/set_rules', `${facts}/set_rules`],
	['/v1/resource_instances', `${facts}/resource_instances`],
	['/v1/relationship_tuples', `${facts}/relationship_tuples`],
	['/v1/groups', `${schema}/groups`],
	['/v1/projects', '/v2/projects'],
	['/v1/projects/shop/envs', '/v2/projects/{proj_id}/envs'],
	['/v1/organizations', '/v2/orgs'],
	['/v1/members', '/v2/members'],
	['/v1/api-keys', '/v2/api-key'],
	['/v1', null],
	['/v1/', null],
	['/v1/anything/else', null],
	['/v1/%75sers%2f', null],
];

journey('a version 1 path returns 410 and the new path', async (t, { http, url }) => {
	for (const [old, successor] of paths) {
		for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
			const answer = await http.send(method, old, method === 'GET' ? undefined : {});
			fails(t, answer, 410, successor ?? 'docs/develop/migration.md');
			t.like(answer.body, { additional_info: { successor, guide: 'docs/develop/migration.md' } }, old);
		}
		t.is((await fetch(url + old)).status, 410, 'for any caller');
	}
});

journey('other unknown paths return 404', async (t, { http }) => {
	for (const path of ['/', '/v1beta/users', '/v3/users', '/v2/v1/users', '/v10/users', '/V1/users']) {
		fails(t, await http.get(path), 404, path);
	}
});
