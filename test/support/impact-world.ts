import type { Draft } from '../../src/wire/general/draft.js';
import type { Impact, ImpactRow } from '../../src/wire/general/impact.js';
import type { Answer, Client } from './client.js';
import type { DraftedChange } from './drafts.js';
import type { Place } from './management.js';

/** An environment with roles, derivations and condition sets, and impact requests for drafts. */

/** A document in which a tenant role, a derivation and a condition set rule each give a user access to `plan`. */
const world = {
	format: 'regolith-environment',
	version: 1,
	schema: {
		resources: {
			folder: {
				name: 'Folder',
				actions: { list: {} },
				relations: { parent: { name: 'Parent', subject_resource: 'folder' } },
				roles: {
					viewer: {
						name: 'Viewer',
						permissions: ['list'],
						granted_to: {
							users_with_role: [{ linked_by_relation: 'parent', on_resource: 'folder', role: 'viewer' }],
						},
					},
				},
			},
			document: {
				name: 'Document',
				actions: { read: {}, write: {} },
				attributes: { level: { type: 'number' } },
				relations: { parent: { name: 'Parent', subject_resource: 'folder' } },
				roles: {
					reader: {
						name: 'Reader',
						permissions: ['read'],
						granted_to: {
							users_with_role: [{ linked_by_relation: 'parent', on_resource: 'folder', role: 'viewer' }],
						},
					},
				},
			},
		},
		user_attributes: { department: { type: 'string' } },
		roles: {
			editor: { name: 'Editor', permissions: ['document:read', 'document:write'] },
			guest: { name: 'Guest', permissions: [] },
		},
		condition_sets: {
			staff: { name: 'Staff', type: 'userset', conditions: { 'user.department': { equals: 'sales' } } },
			drafts: {
				name: 'Drafts',
				type: 'resourceset',
				resource: 'document',
				conditions: { 'resource.level': { equals: 1 } },
			},
		},
		set_rules: [{ user_set: 'staff', permission: 'document:write', resource_set: 'drafts' }],
	},
	facts: {
		tenants: { acme: { name: 'Acme' }, other: { name: 'Other' } },
		users: {
			ann: {},
			ben: {},
			cal: { attributes: { department: 'sales' } },
			dan: {},
		},
		resource_instances: {
			'folder:outer': { tenant: 'acme' },
			'folder:inner': { tenant: 'acme' },
			'document:plan': { tenant: 'acme', attributes: { level: 1 } },
			'document:note': { tenant: 'acme', attributes: { level: 2 } },
		},
		relationship_tuples: [
			{ subject: 'folder:outer', relation: 'parent', object: 'folder:inner' },
			{ subject: 'folder:inner', relation: 'parent', object: 'document:plan' },
		],
		role_assignments: [
			{ user: 'ann', role: 'editor', tenant: 'acme' },
			{ user: 'ben', role: 'viewer', resource_instance: 'folder:outer' },
		],
	},
};

/** Fills an environment. Throws if the import fails. */
export async function fillImpactWorld({ http, project, key }: Place): Promise<void> {
	const answer = await http.post(`/v2/projects/${project}/envs/${key}/import`, world);
	if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

/** Returns an environment's path. */
export function environmentPath({ project, key }: Place): string {
	return `/v2/projects/${project}/envs/${key}`;
}

/** A draft change as a client sends it. */
export type WrittenChange = Readonly<Record<string, unknown>>;

/** Requests the impact of changes to the newest revision. */
export async function askImpact(
	place: Place,
	changes: readonly (WrittenChange | DraftedChange)[],
	more: { readonly http?: Client; readonly limits?: object; readonly base_revision?: number } = {},
): Promise<Answer<Impact>> {
	const { http = place.http, limits, base_revision = await place.revision() } = more;
	const draft = { base_revision, changes } as unknown as Draft;
	return http.post<Impact>(`${environmentPath(place)}/impact`, { draft, ...(limits && { limits }) });
}

/** Formats an impact row in a few words. */
export function impactWords({ user, action, resource: { type, key }, tenant }: ImpactRow): string {
	return `${user} ${action} ${type}${key === null ? '' : `:${key}`} in ${tenant}`;
}

/** Formats all rows in a few words, sorted. */
export function impactLines({ gains, loses }: Impact): readonly string[] {
	return [...gains.map((row) => `+ ${impactWords(row)}`), ...loses.map((row) => `- ${impactWords(row)}`)].sort();
}
