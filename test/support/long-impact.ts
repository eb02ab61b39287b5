import { environmentPath } from './impact-world.js';
import type { Place } from './management.js';

/** Creates users who all have the role `editor` on all documents, so that a change to this role affects every user. */
export async function fillLargeWorld(place: Place, users: number, documents: number): Promise<void> {
	const document = {
		format: 'regolith-environment',
		version: 1,
		schema: {
			resources: { document: { name: 'Document', actions: { read: {}, write: {} } } },
			roles: { editor: { name: 'Editor', permissions: ['document:read'] } },
		},
		facts: {
			tenants: { acme: { name: 'Acme' } },
			users: Object.fromEntries(Array.from({ length: users }, (_, index) => [`user-${index}`, {}])),
			resource_instances: Object.fromEntries(
				Array.from({ length: documents }, (_, index) => [`document:plan-${index}`, { tenant: 'acme' }]),
			),
			role_assignments: Array.from({ length: users }, (_, index) => ({
				user: `user-${index}`,
				role: 'editor',
				tenant: 'acme',
			})),
		},
	};
	const answer = await place.http.post(`${environmentPath(place)}/import`, document);
	if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

/** Changes that remove a permission from every user and grant a new permission. */
export const turnEditors = [
	{ kind: 'role', operation: 'update', key: 'editor', value: { name: 'Editor', permissions: ['document:write'] } },
];
