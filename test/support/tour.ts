import { endpoints } from '../../src/api/table.js';
import { PolicyStore } from '../../src/store/policy/policy-store.js';
import { bodies, idLike, sentAs } from './bodies.js';
import { type Answer, type Client, client } from './client.js';
import { createSecret, type Management, type Place } from './management.js';
import { addRelation } from './relation.js';

/** Helpers for tests that visit every management API endpoint. */

/** An endpoint in the table. */
export type Visited = (typeof endpoints)[number];

/**
 * Endpoints that accept an API key. The remaining endpoints are for browsers with element or console users:
 * `element-sign-in.test.ts`, `element-access.test.ts` and `console-sign-in.test.ts` call them.
 */
export const keyedEndpoints = endpoints.filter(({ access }) => !/^(element|console)\./.test(access));

/** Ids or keys, keyed by path parameter. */
export type Names = Readonly<Record<string, string>>;

/** Keys created by `furnish`. */
export const furnished: Names = {
	resource_id: 'document',
	action_id: 'read',
	action_group_id: 'editing',
	attribute_id: 'private',
	relation_id: 'parent',
	role_id: 'editor',
	parent_role_id: 'viewer',
	condition_set_id: 'private_documents',
	check_test_id: 'alice-reads',
	user_id: 'alice@example.com',
	tenant_id: 'acme',
	instance_id: 'document:budget',
	group_instance_key: 'group:admins',
	user_invite_id: 'ines@example.com',
	proxy_config_id: 'proxy',
	elements_config_id: 'requests',
	revision: '1',
};

/** Creates an object per kind, named `mark`, so the references in example bodies are valid. Returns the ids. */
export async function furnish(place: Place, mark = 'Example'): Promise<Names> {
	const { http, schema, facts, elements, key_id } = place;
	const made = async (path: string, body: object) => {
		const answer = await http.post<{ readonly id: string }>(path, { name: mark, ...body });
		if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
		return answer.body.id;
	};
	const actions = { read: {}, write: {} };
	const resource_id = await made(`${schema}/resources`, { key: 'document', actions });
	await made(`${schema}/resources`, { key: 'folder', actions });
	await addRelation(place, 'document', 'copy', 'document');
	for (const key of ['viewer', 'editor']) await made(`${schema}/resources/document/roles`, { key });
	const action = await http.get<{ readonly id: string }>(`${schema}/resources/document/actions/read`);
	await made(`${schema}/users/attributes`, { key: 'private', type: 'bool', description: mark });
	const role_id = await made(`${schema}/roles`, { key: idLike.role });
	const tenant_id = await made(`${facts}/tenants`, { key: idLike.tenant });
	await rememberPolicy(place, mark);
	// An invite has no `name`.
	const named = { key: 'ines@example.com', email: 'ines@example.com', first_name: mark, name: undefined };
	const invited = { ...named, role_id, tenant_id };
	const names = {
		resource_id,
		action_id: action.body.id,
		action_group_id: await made(`${schema}/resources/document/action_groups`, { key: 'editing', actions: ['write'] }),
		relation_id: await made(`${schema}/resources/document/relations`, {
			key: 'parent',
			subject_resource: 'folder',
		}),
		attribute_id: await made(`${schema}/resources/document/attributes`, {
			key: 'private',
			type: 'bool',
			description: mark,
		}),
		parent_role_id: await made(`${schema}/roles`, { key: 'viewer' }),
		role_id: await made(`${schema}/roles`, { key: 'editor', permissions: ['document:read'] }),
		tenant_id: await made(`${facts}/tenants`, { key: 'acme' }),
		condition_set_id: await conditionSetsIn(place, mark),
		check_test_id: await made(`${schema}/check_tests`, {
			key: 'alice-reads',
			name: undefined,
			description: mark,
			check: { user: 'alice@example.com', action: 'read', resource: 'document' },
			expected: 'allow',
		}),
		instance_id: await made(`${facts}/resource_instances`, {
			key: 'budget',
			resource: 'document',
			tenant: 'acme',
			attributes: { mark },
		}),
		group_instance_key: await groupsIn(place),
		api_key_id: key_id,
		user_invite_id: await made(`${facts}/user_invites`, invited),
		proxy_config_id: await made(`${facts}/proxy_configs`, { key: 'proxy', secret: 'token' }),
		members_id: await made(`${elements}/config`, {
			key: 'members',
			elements_type: 'user_management',
			settings: {},
			roles_to_levels: { LEVEL_1: ['viewer', 'editor'] },
		}),
		elements_config_id: await made(`${elements}/config`, {
			key: 'requests',
			elements_type: 'approval_flow',
			settings: { user_management_element: 'members', allow_self_approval: true },
			roles_to_levels: {},
			// This is the discard port, on which no server listens.
			webhook: { url: 'http://127.0.0.1:9/' },
		}),
		approvals_id: await made(`${elements}/config`, {
			key: 'approvals',
			elements_type: 'operation_approval',
			settings: { single_use: true },
			roles_to_levels: {},
		}),
		operation_approval_id: approvalId(place),
		log_id: decisionId(place),
		pdp_id: key_id,
		task_id: await addFailedTask(place),
		user_id: await made(`${facts}/tenants/acme/users`, {
			key: 'alice@example.com',
			first_name: mark,
			role_assignments: [{ role: 'viewer', tenant: 'acme' }],
		}),
		session_id: await sessionIn(place),
	};
	const asked = { requesting_user_id: names.user_id, tenant_id: names.tenant_id, reason: mark };
	await addRequests(place, { ...asked, config_id: names.elements_config_id, role_id: names.parent_role_id });
	await addDecision(place);
	await addApproval(place, { ...asked, config_id: names.approvals_id, resource_id: names.resource_id });
	return names;
}

/** Signs an element user in twice. Returns one session id. */
async function sessionIn({ id, http, store }: Place): Promise<string> {
	const named = { user_id: 'alice@example.com', tenant_id: 'acme' };
	const sessions = store.entrance.sessionsOf({ id });
	for (let made = 0; made < 2; made++) await http.post('/v2/auth/elements_login_as', named);
	const [session] = await sessions.list().all();
	furnishedSessions.set(id, session?.id ?? '');
	return session?.id ?? '';
}

/** Session ids, keyed by furnished place, because sessions have no keys. */
const furnishedSessions = new Map<string, string>();

/** Stores a policy for the place's first revision, because no policy is compiled in these tests. */
async function rememberPolicy({ id, store }: Place, mark: string): Promise<void> {
	const policies = new PolicyStore(store.database.knex, () => []);
	const now = store.clock.now();
	const files = [{ path: 'regolith/mark.rego', text: `# ${mark}\npackage regolith.mark\n` }];
	await policies.keep({ digest: mark, files, wasm: new Uint8Array() }, now);
	const nothing = { condition_sets: [], set_rules: [], resources: [], roles: [] };
	await policies.history.remember(id, { digest: mark, schema_revision: 1, published_at: now, layout: 1 }, nothing);
}

/** Creates a user set and a resource set. Returns the resource set's id. */
async function conditionSetsIn({ http, schema }: Place, name: string): Promise<string> {
	const made = async (key: string, body: object) =>
		http.post<{ readonly id: string }>(`${schema}/condition_sets`, { key, name, ...body });
	await made('private_users', { conditions: { 'user.private': { equals: true } } });
	const conditions = { 'resource.private': { equals: true } };
	const answer = await made('private_documents', { type: 'resourceset', resource_id: 'document', conditions });
	if (answer.status !== 200) throw new Error(`condition sets: ${JSON.stringify(answer.body)}`);
	return answer.body.id;
}

/** Creates two groups. Returns the second group's id. */
async function groupsIn({ http, schema }: Place): Promise<string> {
	const made = async (key: string) =>
		http.post<{ readonly id: string }>(`${schema}/groups`, { group_instance_key: key, group_tenant: 'acme' });
	await made('staff');
	const answer = await made('admins');
	if (answer.status !== 200) throw new Error(`groups: ${JSON.stringify(answer.body)}`);
	return answer.body.id;
}

/** Adds a failed copy task under the place's id. Starting a real copy would create an environment. */
async function addFailedTask({ id, store }: Place): Promise<string> {
	const tasks = store.copyTasks(id);
	await tasks.add(id);
	await tasks.end(id, { error: 'no reason' });
	return id;
}

/** An element can be deleted through two endpoints, so each endpoint gets a separate element. */
const others: Names = { elements_config_id: 'members' };

function deletesElement({ name }: Visited): boolean {
	return name === 'deleteElementsConfig';
}

/** Endpoints that approve, deny or otherwise change an access request. Each needs a pending request. */
const moving = [
	'approveAccessRequestOfUser',
	'denyAccessRequestOfUser',
	'cancelAccessRequestOfUser',
	'approveElementRequest',
	'denyElementRequest',
];

/** Returns the id for an endpoint's access request, which `addRequests` creates. */
function requestId({ id }: Pick<Place, 'id'>, endpoint: string): string {
	return `${id.slice(0, -1)}${moving.indexOf(endpoint) + 1}`;
}

/** Creates access requests with predictable ids. */
async function addRequests(place: Place, columns: object): Promise<void> {
	const { knex } = place.store.database;
	const now = place.store.clock.now();
	const rows = ['others', ...moving].map((endpoint) => ({
		...columns,
		environment_id: place.id,
		id: requestId(place, endpoint),
		type: 'access_request',
		status: 'pending',
		created_at: now,
		updated_at: now,
	}));
	await knex('element_requests').insert(rows);
}

/** Returns the id for the operation approval, which `addApproval` creates. */
function approvalId({ id }: Pick<Place, 'id'>): string {
	return `${id.slice(0, -1)}${moving.length + 1}`;
}

/** Returns the id for the decision, which `addDecision` logs. */
function decisionId({ id }: Pick<Place, 'id'>): string {
	return `${id.slice(0, -1)}${moving.length + 2}`;
}

async function addDecision(place: Place): Promise<void> {
	const { id, key_id, store } = place;
	const now = store.clock.now();
	const asked = { user_key: 'alice@example.com', action: 'read', resource_type: 'document', tenant: 'acme' };
	const row = { ...asked, id: decisionId(place), logged_at: now, api_key_id: key_id, decision: true, code: 'allow' };
	await store.auditLogIntake({ environment_id: id }).add([{ ...row, raw: '{}' }], now);
}

/** Creates a consumable operation approval. */
async function addApproval(place: Place, columns: object): Promise<void> {
	const now = place.store.clock.now();
	await place.store.database.knex('element_requests').insert({
		...columns,
		environment_id: place.id,
		id: approvalId(place),
		type: 'operation_approval',
		status: 'approved',
		created_at: now,
		updated_at: now,
	});
}

/** Returns the parameter names in an endpoint's path. */
export function pathParameters(endpoint: Visited): readonly string[] {
	return [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}

/** Returns an endpoint's path in a place. `other` overrides parameters. */
export function endpointPath(endpoint: Visited, place: Place, other: Names = {}): string {
	const { id, project, key, key_id, organization_id } = place;
	const keys = { api_key_id: key_id, pdp_id: key_id };
	const own = { ...keys, proj_id: project, env_id: key, org_id: organization_id, task_id: id };
	const request_id = requestId(place, endpoint.name);
	const requests = { access_request_id: request_id, element_request_id: request_id };
	const request = { ...requests, ...(deletesElement(endpoint) && others) };
	const session_id = furnishedSessions.get(id) ?? id;
	const operation_approval_id = approvalId(place);
	const log_id = decisionId(place);
	const values: Names = { ...furnished, ...own, ...request, session_id, operation_approval_id, log_id, ...other };
	return endpoint.path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? `no ${name}`);
}

/** Queries for endpoints that need a query. */
const neededQueries: Readonly<Record<string, string>> = {
	endElementSessions: 'user=alice@example.com',
	getGraph: 'from=user:alice@example.com',
};

/** Returns an endpoint's required query, including the question mark. `more` adds or overrides parameters. */
export function endpointQuery({ name }: Visited, more = ''): string {
	const parameter = (text: string) => text.split('=')[0];
	const needed = neededQueries[name] ?? '';
	const query = [parameter(needed) === parameter(more) ? '' : needed, more].filter((part) => part !== '').join('&');
	return query === '' ? '' : `?${query}`;
}

/** Returns a valid body for an endpoint; `undefined` if it has no body. */
export function endpointBody(endpoint: Visited): unknown {
	const body = bodies[endpoint.name];
	return body === undefined ? undefined : sentAs(body, [body.base]);
}

/**
 * Returns a function that chooses a client for each endpoint: usually with the organization's key, but with a new key
 * for the place's environment if the endpoint takes its environment from the key.
 */
export async function endpointClients(
	{ id, organization_id, project_id }: Place,
	{ url, store, organization }: Management,
): Promise<(endpoint: Visited) => Client> {
	const own = client(url, await createSecret(store, organization_id, { project_id, environment_id: id }));
	return ({ access }) =>
		['environment.own', 'environment.report', 'environment.sign_in'].includes(access) ? own : organization;
}

/** An endpoint call with its response. */
export interface Visit {
	readonly endpoint: Visited;
	readonly answer: Answer<unknown>;
}

/**
 * Calls every endpoint that accepts an API key once, with valid input, except for the endpoints in `without`. Deletions
 * come last, innermost first. A few results depend on earlier calls that have deleted or created the same object.
 */
export async function tour(
	place: Place,
	clientFor: (endpoint: Visited) => Client,
	without: ReadonlySet<string> = new Set(),
): Promise<readonly Visit[]> {
	const visits: Visit[] = [];
	const order = keyedEndpoints.filter(({ name }) => !without.has(name)).sort((left, right) => rank(left) - rank(right));
	for (const endpoint of order) {
		const answer = await clientFor(endpoint).send(
			endpoint.method.toUpperCase(),
			endpointPath(endpoint, place) + endpointQuery(endpoint),
			endpointBody(endpoint),
		);
		visits.push({ endpoint, answer });
	}
	return visits;
}

/** Returns a call's position: first calls that keep all objects, then deletions by decreasing path length. */
function rank({ method, path, body }: Visited): number {
	if (method !== 'delete') return 0;
	// A session must be deleted before its user, and a single session before all sessions.
	if (path.includes('/sessions')) return path.endsWith(':session_id') ? 0.25 : 0.5;
	// A key must be deleted before its environment.
	if (path.includes(':api_key_id')) return 2;
	// An instance, group or condition set must be deleted before its resource and tenant.
	if (path.includes(':instance_id') || path.includes(':condition_set_id') || path.endsWith(':group_instance_key'))
		return 50;
	// An element must be deleted before its environment, whose path has the same length.
	if (path.includes(':elements_config_id') || path.includes(':check_test_id')) return 50;
	return body === undefined ? 100 - path.split('/').length : 1;
}
