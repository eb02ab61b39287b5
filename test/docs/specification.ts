/** The endpoints in the specification's tables, as data. */

const schema = '/v2/schema/{proj_id}/{env_id}';
const facts = '/v2/facts/{proj_id}/{env_id}';
const resource = `${schema}/resources/{resource_id}`;
const group = `${schema}/groups/{group_instance_key}`;
const element = '/v2/elements/{proj_id}/{env_id}/config/{elements_config_id}';

/** A path in a chapter with its methods, as in the specification. */
type Row = readonly [methods: string, path: string];

/** Returns the endpoints for access requests or operation approvals, which differ only in their paths. */
function requests(path: string, parameter: string): readonly Row[] {
	const one = `${element}/${path}/{${parameter}}`;
	return [
		['GET POST', `${element}/${path}`],
		['GET', one],
		['PATCH', `${one}/reviewer`],
		...(['approve', 'deny', 'cancel'] as const).map((decision) => ['PUT', `${one}/${decision}`] as const),
	];
}

/**
 * Chapters in the specification's order. If the specification names no methods for a path, they follow from its general
 * semantics.
 */
export const chapters: Readonly<Record<string, readonly Row[]>> = {
	'Organizations, projects, environments': [
		['GET', '/v2/orgs'],
		['GET', '/v2/projects'],
		['GET', '/v2/projects/{proj_id}/envs'],
		['DELETE', '/v2/projects/{proj_id}/envs/{env_id}'],
	],
	Schema: [
		['GET POST', `${schema}/resources`],
		['GET PUT PATCH DELETE', resource],
		['GET POST', `${resource}/actions`],
		['GET POST', `${resource}/attributes`],
		['GET POST', `${resource}/roles`],
		['GET POST', `${schema}/roles`],
		['GET PATCH DELETE', `${schema}/roles/{role_id}`],
		['POST', `${schema}/roles/{role_id}/permissions`],
	],
	Facts: [
		['GET POST', `${facts}/users`],
		['GET PUT PATCH DELETE', `${facts}/users/{user_id}`],
		['POST DELETE', `${facts}/users/{user_id}/roles`],
		['GET POST DELETE', `${facts}/role_assignments`],
		['GET POST', `${facts}/tenants`],
		['GET PATCH DELETE', `${facts}/tenants/{tenant_id}`],
		['GET POST', `${facts}/tenants/{tenant_id}/users`],
		['GET POST', `${facts}/resource_instances`],
		['POST PUT DELETE', `${facts}/bulk/users`],
		['POST DELETE', `${facts}/bulk/tenants`],
	],
	'Condition sets': [
		['GET POST', `${schema}/condition_sets`],
		['GET', `${schema}/condition_sets/{condition_set_id}`],
		['GET POST DELETE', `${facts}/set_rules`],
	],
	Groups: [
		['POST', `${schema}/groups`],
		['GET', `${schema}/groups/direct`],
		['GET', `${schema}/groups/direct/{group_instance_key}`],
		['DELETE', group],
		['GET POST DELETE', `${group}/roles`],
		['GET', `${group}/users`],
		['PUT DELETE', `${group}/users/{user_id}`],
		['PUT DELETE', `${group}/assign_group`],
		['GET', `${group}/children`],
		['GET', `${group}/parents`],
		['GET', `${schema}/groups`],
		['GET', group],
	],
	'Decision points': [['POST', '/v2/pdps/{proj_id}/{env_id}/configs/{pdp_id}/rotate-api-key']],
	'Access requests': requests('access_requests', 'access_request_id'),
	'Operation approvals': requests('operation_approval', 'operation_approval_id'),
};
