import type { Place } from './management.js';

/** What is in an environment, in words, as its lists tell it; who was added to a tenant only the export tells. */

type Read = Readonly<Record<string, unknown>> & { readonly key: string };

/**
 * Every object that the lists of an environment show, as `<kind> <key>` with the kinds and keys of the change log, and
 * every link between two of them (what a role grants, extends and is derived from; what a group holds); sorted.
 */
export async function contentsOf(place: Place): Promise<readonly string[]> {
	const { schema, facts } = place;
	const list = (path: string) => listed(place, path);
	const resources = await list(`${schema}/resources`);
	const parts = await Promise.all(resources.map(({ key }) => partsOf(place, key)));
	const tenants = await list(`${facts}/tenants`);
	const members = await Promise.all(
		tenants.map(async ({ key }) =>
			(await list(`${facts}/tenants/${key}/users`)).map((user) => `listed ${user.key} in ${key}`),
		),
	);
	return [
		...words('resource', resources),
		...parts.flat(),
		...words('resource_attribute', await list(`${schema}/users/attributes`), '__user:'),
		...rolesIn(await list(`${schema}/roles`)),
		...words('tenant', tenants),
		...words('user', await list(`${facts}/users`)),
		...members.flat(),
		...(await addedUsers(place)),
		...(await list(`${facts}/role_assignments`)).map(
			({ user, role, tenant, resource_instance }) => `role_assignment ${user}#${role}@${resource_instance ?? tenant}`,
		),
		...(await list(`${facts}/resource_instances`)).map(({ resource, key }) => `resource_instance ${resource}:${key}`),
		...(await list(`${facts}/relationship_tuples`)).map(
			({ subject, relation, object }) => `relationship_tuple ${object}#${relation}@${subject}`,
		),
		...(await list(`${schema}/groups/direct`)).map(
			({ group_resource_type_key, group_instance_key }) => `group ${group_resource_type_key}:${group_instance_key}`,
		),
		...words('user_invite', await list(`${facts}/user_invites`)),
		...words('proxy_config', await list(`${facts}/proxy_configs`)),
	].sort();
}

async function partsOf(place: Place, resource: string): Promise<readonly string[]> {
	const list = (part: string) => listed(place, `${place.schema}/resources/${resource}/${part}`);
	const groups = await list('action_groups');
	return [
		...words('resource_action', await list('actions'), `${resource}:`),
		...words('resource_attribute', await list('attributes'), `${resource}:`),
		...words('action_group', groups, `${resource}:`),
		...groups.flatMap(({ key, actions }) =>
			(actions as readonly string[]).map((action) => `group ${resource}:${key} holds ${action}`),
		),
		...words('relation', await list('relations'), `${resource}:`),
		...rolesIn(await list('roles'), `${resource}:`),
	];
}

function rolesIn(roles: readonly Read[], before = ''): readonly string[] {
	return roles.flatMap(({ key, ...role }) => {
		const { permissions, extends: parents, granted_to } = role as unknown as RoleLinks;
		return [
			`role ${before}${key}`,
			...permissions.map((permission) => `${before}${key} grants ${permission}`),
			...parents.map((parent) => `${before}${key} extends ${parent}`),
			...(granted_to?.users_with_role ?? []).map(
				(rule) => `${before}${key} from ${rule.on_resource}:${rule.role} by ${rule.linked_by_relation}`,
			),
		];
	});
}

interface Rule {
	readonly role: string;
	readonly on_resource: string;
	readonly linked_by_relation: string;
}

interface RoleLinks {
	readonly permissions: readonly string[];
	readonly extends: readonly string[];
	readonly granted_to: { readonly users_with_role: readonly Rule[] } | null;
}

function words(kind: string, objects: readonly Read[], before = ''): readonly string[] {
	return objects.map(({ key }) => `${kind} ${before}${key}`);
}

async function addedUsers({ http, project, key }: Place): Promise<readonly string[]> {
	type Added = { readonly facts: { readonly tenant_users: readonly Readonly<Record<string, string>>[] } };
	const { body } = await http.get<Added>(`/v2/projects/${project}/envs/${key}/export`);
	return body.facts.tenant_users.map(({ user, tenant }) => `tenant_user ${user}@${tenant}`);
}

/** A list, whether it is answered with counts or without. */
async function listed({ http }: Place, path: string): Promise<readonly Read[]> {
	const { status, body } = await http.get<readonly Read[] | { readonly data: readonly Read[] }>(`${path}?per_page=100`);
	if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
	return 'data' in body ? body.data : body;
}

/** Makes one object of every kind at least, linked with each other in every way there is. */
export async function fill(place: Place): Promise<void> {
	const { http, schema, facts } = place;
	const made = async (path: string, body: object): Promise<string> => {
		const answer = await http.post<{ readonly id: string }>(path, { name: 'Made', ...body });
		if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
		return answer.body.id;
	};
	await made(`${schema}/resources`, {
		...{ key: 'folder', actions: { read: {} }, roles: { owner: { name: 'Owner', permissions: ['read'] } } },
	});
	await made(`${schema}/resources`, {
		...{ key: 'document', actions: { read: {}, write: {} }, attributes: { private: { type: 'bool' } } },
		relations: { parent: 'folder', copy: 'document' },
		roles: {
			viewer: { name: 'Viewer', permissions: ['read'] },
			editor: {
				...{ name: 'Editor', permissions: ['write'], extends: ['viewer'] },
				granted_to: { users_with_role: [{ role: 'owner', on_resource: 'folder', linked_by_relation: 'parent' }] },
			},
		},
	});
	await made(`${schema}/resources/document/action_groups`, { key: 'all', actions: ['read', 'write'] });
	await made(`${schema}/users/attributes`, { key: 'plan', type: 'string' });
	await made(`${schema}/roles`, { key: 'viewer', permissions: ['document:read'] });
	const permissions = ['document:write', 'folder:read'];
	const role_id = await made(`${schema}/roles`, { key: 'editor', permissions, extends: ['viewer'] });
	const tenant_id = await made(`${facts}/tenants`, { key: 'acme' });
	await made(`${facts}/tenants`, { key: 'globex' });
	for (const key of ['ann', 'ben']) await made(`${facts}/users`, { key });
	await made(`${facts}/tenants/acme/users`, { key: 'ann' });
	await made(`${facts}/tenants/acme/users`, { key: 'cy' });
	await made(`${facts}/resource_instances`, { key: 'finance', resource: 'folder', tenant: 'acme' });
	const budget = { key: 'budget', resource: 'document', tenant: 'acme' };
	const resource_instance_id = await made(`${facts}/resource_instances`, budget);
	await made(`${facts}/resource_instances`, { key: 'plan', resource: 'document', tenant: 'globex' });
	for (const held of assignments) await made(`${facts}/role_assignments`, held);
	const object = 'document:budget';
	await made(`${facts}/relationship_tuples`, { subject: 'folder:finance', relation: 'parent', object });
	await made(`${facts}/relationship_tuples`, { subject: object, relation: 'copy', object });
	const group = { group_instance_key: 'red', group_resource_type_key: 'team', group_tenant: 'globex' };
	await made(`${schema}/groups`, group);
	await http.put(`${schema}/groups/team:red/users/ben`, { tenant: 'globex' });
	const onPlan = { resource: 'document', resource_instance: 'plan', role: 'viewer', tenant: 'globex' };
	await made(`${schema}/groups/team:red/roles`, onPlan);
	const viewer = await http.get<{ readonly id: string }>(`${schema}/resources/document/roles/viewer`);
	await made(`${facts}/user_invites`, { key: 'ines', email: 'ines@example.com', role_id, tenant_id });
	const onInstance = { role_id: viewer.body.id, tenant_id, resource_instance_id };
	await made(`${facts}/user_invites`, { key: 'ian', email: 'ian@example.com', ...onInstance });
	const mapping_rules = [{ url: 'https://example.com', http_method: 'get', resource: 'document' }];
	await made(`${facts}/proxy_configs`, { key: 'proxy', secret: 'token', mapping_rules });
}

const assignments = [
	{ user: 'ann', role: 'editor', tenant: 'acme' },
	{ user: 'ann', role: 'viewer', tenant: 'globex' },
	{ user: 'ben', role: 'viewer', tenant: 'acme' },
	{ user: 'ann', role: 'viewer', resource_instance: 'document:budget' },
	{ user: 'ben', role: 'owner', resource_instance: 'folder:finance' },
	{ user: 'ben', role: 'editor', resource_instance: 'document:plan' },
];
