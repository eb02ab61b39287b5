import type { Graph } from '../../src/wire/facts/graph.js';
import type { Answer } from './client.js';
import type { Place } from './management.js';

/** Requests a graph for the place. */
export function askGraph(place: Place, query: Readonly<Record<string, string>>): Promise<Answer<Graph>> {
	const { http, project, key } = place;
	return http.get(`/v2/projects/${project}/envs/${key}/graph?${new URLSearchParams(query)}`);
}

const inFolder = (role: string) => ({ role, on_resource: 'folder', linked_by_relation: 'parent' });

/**
 * Creates the graph. `ann` has the role `lead` in `acme`, which extends `clerk`, and is a member of the group `eng`.
 * Group members edit `folder:plans`, the parent of `document:budget`. `ben` views `document:budget` until `end`. Folder
 * editors edit the documents inside, except documents on which they have an assigned role.
 */
export async function furnishGraph({ http, project, key, schema, facts }: Place, end: string): Promise<void> {
	const named = (name: string, more: object = {}) => ({ name, ...more });
	const document = {
		format: 'regolith-environment',
		version: 1,
		schema: {
			resources: {
				document: named('Document', {
					actions: { read: named('Read'), write: named('Write') },
					relations: { parent: named('Parent', { subject_resource: 'folder' }) },
					roles: {
						viewer: named('Viewer', { permissions: ['read'] }),
						editor: named('Editor', {
							permissions: ['write'],
							extends: ['viewer'],
							granted_to: { users_with_role: [{ ...inFolder('editor'), when: { no_direct_roles_on_object: true } }] },
						}),
					},
				}),
				folder: named('Folder', { actions: { read: named('Read') }, roles: { editor: named('Editor') } }),
			},
			roles: {
				clerk: named('Clerk', { permissions: ['document:read'] }),
				lead: named('Lead', { permissions: ['document:write'], extends: ['clerk'] }),
				guest: named('Guest', {}),
			},
		},
		facts: {
			tenants: { acme: named('Acme Inc.') },
			users: { ann: { first_name: 'Ann', last_name: 'Lee' }, ben: { email: 'ben@example.com' }, cy: {} },
			resource_instances: { 'folder:plans': { tenant: 'acme' }, 'document:budget': { tenant: 'acme' } },
			relationship_tuples: [{ subject: 'folder:plans', relation: 'parent', object: 'document:budget' }],
			role_assignments: [
				{ user: 'ann', role: 'lead', tenant: 'acme' },
				{ user: 'ben', role: 'viewer', resource_instance: 'document:budget', expires_at: end },
			],
		},
	};
	const group = `${schema}/groups/group:eng`;
	const role = { resource: 'folder', resource_instance: 'plans', role: 'editor', tenant: 'acme' };
	const answers = [
		await http.post(`/v2/projects/${project}/envs/${key}/import`, document),
		await http.post(`${schema}/groups`, { group_instance_key: 'eng', group_tenant: 'acme' }),
		await http.post(`${group}/roles`, role),
		await http.put(`${group}/users/ann`, { tenant: 'acme' }),
		await http.get(`${facts}/users/ann`),
	];
	for (const { status, body } of answers) if (status !== 200) throw new Error(JSON.stringify(body));
}
