/** Maps version 1 paths to their version 2 paths, based on the object types in the path. */

const schema = '/v2/schema/{proj_id}/{env_id}';
const facts = '/v2/facts/{proj_id}/{env_id}';
const resource = `${schema}/resources/{resource_id}`;
const environment = '/v2/projects/{proj_id}/envs';

/**
 * Version 2 paths, keyed by the version 1 name of the object type. Some keys also contain the name of the preceding
 * type.
 */
const successors: Readonly<Record<string, string>> = {
	'user role': `${facts}/users/{user_id}/roles`,
	'tenant user': `${facts}/tenants/{tenant_id}/users`,
	'resource role': `${resource}/roles`,
	'resource permission': `${resource}/roles/{role_id}/permissions`,
	'user attribute': `${schema}/users/attributes`,
	'condition set rule': `${facts}/set_rules`,
	organization: '/v2/orgs',
	org: '/v2/orgs',
	member: '/v2/members',
	project: '/v2/projects',
	environment,
	env: environment,
	'api key': '/v2/api-key',
	pdp: '/v2/pdps/{proj_id}/{env_id}/configs',
	'pdp config': '/v2/pdps/{proj_id}/{env_id}/configs',
	'proxy config': `${facts}/proxy_configs`,
	resource: `${schema}/resources`,
	'resource type': `${schema}/resources`,
	action: `${resource}/actions`,
	'resource action': `${resource}/actions`,
	'action group': `${resource}/action_groups`,
	attribute: `${resource}/attributes`,
	'resource attribute': `${resource}/attributes`,
	relation: `${resource}/relations`,
	role: `${schema}/roles`,
	permission: `${schema}/roles/{role_id}/permissions`,
	'condition set': `${schema}/condition_sets`,
	'user set': `${schema}/condition_sets`,
	'resource set': `${schema}/condition_sets`,
	group: `${schema}/groups`,
	user: `${facts}/users`,
	tenant: `${facts}/tenants`,
	'role assignment': `${facts}/role_assignments`,
	'resource instance': `${facts}/resource_instances`,
	'relationship tuple': `${facts}/relationship_tuples`,
	relationship: `${facts}/relationship_tuples`,
	'set rule': `${facts}/set_rules`,
	'user invite': `${facts}/user_invites`,
	'access request': '/v2/elements/{proj_id}/{env_id}/config/{elements_config_id}/access_requests',
	'operation approval': '/v2/elements/{proj_id}/{env_id}/config/{elements_config_id}/operation_approval',
};

/**
 * Normalizes a path segment for comparison. For example, `Role-Assignments`, `role_assignment` and `roleAssignments`
 * become equal.
 */
function normalize(word: string): string {
	return word
		.toLowerCase()
		.replace(/[^a-z]/g, '')
		.replace(/s$/, '');
}

/**
 * Version 2 paths, keyed by normalized name. A name of two words also matches two consecutive types in a path, even if
 * there are ids between them.
 */
const byName = new Map(Object.entries(successors).map(([name, path]) => [normalize(name), path]));

/** True for a version 1 path. */
export function isV1(path: string): boolean {
	return /^\/v1(\/|$)/.test(path);
}

/**
 * Returns the version 2 path for the object type in a version 1 path. Returns `null` if the path contains no known
 * type.
 */
export function v2Successor(path: string): string | null {
	const named = path
		.split('/')
		.map(normalize)
		.filter((word) => byName.has(word));
	const [before = '', last = ''] = ['', '', ...named].slice(-2);
	return byName.get(before + last) ?? byName.get(last) ?? null;
}
