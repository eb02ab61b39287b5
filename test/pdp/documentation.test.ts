import { Validator } from '@seriousme/openapi-schema-validator';
import test from 'ava';
import { type Answer, client } from '../support/client.js';
import { SchemaValidators } from '../support/schema-validators.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';

/** The documentation of a decision point is public, and the decision point's responses conform to it. */

type Json = Readonly<Record<string, unknown>>;

interface Response {
	readonly content?: { readonly 'application/json': { readonly schema: Json } };
	readonly headers?: Json;
}

interface Operation {
	readonly operationId: string;
	readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
}

interface Document extends Json {
	readonly openapi: string;
	readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
	readonly components: {
		readonly schemas: Readonly<Record<string, Json>>;
		readonly responses: Readonly<Record<string, Response>>;
	};
}

let stack: Stack;
let document: Document;

test.before('start', async () => {
	stack = await startStack();
	document = (await client(stack.decisionPoint.listening.url).get<Document>('/openapi.json')).body;
});

test.after.always('stop', async () => stack.stop());

test('the document is served, is valid, and lists the served endpoints', async (t) => {
	const http = client(stack.decisionPoint.listening.url);
	const { status, body } = await http.get<Document>('/openapi.json');
	t.is(status, 200);
	const { valid, errors } = await new Validator().validate(structuredClone(body));
	t.true(valid, JSON.stringify(errors));
	t.deepEqual(Object.keys(body.paths).sort(), [
		'/',
		'/.well-known/authzen-configuration',
		'/.well-known/authzen-configuration/{path}',
		'/access/v1/evaluation',
		'/access/v1/evaluations',
		'/access/v1/search/action',
		'/access/v1/search/resource',
		'/access/v1/search/subject',
		'/allowed',
		'/allowed/all-tenants',
		'/allowed/bulk',
		'/allowed_url',
		'/api/check/resources',
		'/api/plan/resources',
		'/api/server_info',
		'/authorized_users',
		'/data-updater/trigger',
		'/filter',
		'/filter/keys',
		'/filter_resources',
		'/health',
		'/healthcheck',
		'/healthy',
		'/kong',
		'/local/role_assignments',
		'/metrics',
		'/nginx_allowed',
		'/openapi.json',
		'/operation_approvals/{operation_approval_id}/consume',
		'/policy-updater/trigger',
		'/ready',
		'/trino/allowed',
		'/trino/batch-column-masking',
		'/trino/row-filter',
		'/update_policy',
		'/update_policy_data',
		'/user-permissions',
		'/user-tenants',
		'/version',
	]);
	t.is((await http.get('/docs')).status, 200);
	t.like(body, { externalDocs: { url: `${stack.api.listening.url}/docs` } });
});

/** Returns the difference between a response and the document, or `null` if the response conforms. */
function disagreement(operationId: string, answer: Answer<unknown>): string | null {
	const operation = Object.values(document.paths)
		.flatMap((methods) => Object.values(methods))
		.find((one) => one.operationId === operationId);
	const declared = operation?.responses[answer.status];
	if (declared === undefined) return `${answer.status} is not described`;
	const response = '$ref' in declared ? document.components.responses[declared.$ref.split('/').at(-1) ?? ''] : declared;
	const described = Object.keys(response?.headers ?? {}).map((name) => name.toLowerCase());
	const shown = [...answer.headers.keys()].filter((name) => name.startsWith('x-'));
	const undescribed = shown.filter((name) => !described.includes(name));
	if (undescribed.length > 0) return `headers that are not described: ${undescribed.join()}`;
	const answered = response?.content?.['application/json'].schema;
	if (answered === undefined) return 'a body that is not described';
	const parsed = new SchemaValidators(document.components.schemas).of(answered).safeParse(answer.body);
	return parsed.success ? null : JSON.stringify(parsed.error.issues);
}

const resource = { type: 'document', key: 'plan', tenant: 'default' };
const check = { user: { key: 'ann', attributes: { level: 3 } }, action: 'read', resource };
const asked = { ...check, use_debugger: true };
const subject = { type: 'user', id: 'ann' };
const evaluation = { subject, action: { name: 'read' }, resource: { type: 'document', id: 'plan' } };
const url = { user: 'ann', http_method: 'GET', url: 'https://example.com/documents/7', tenant: 'default' };
const table = { catalogName: 'lake', schemaName: 'sales', tableName: 'orders', columns: ['price'] };
const operation = { operation: 'SelectFromColumns', resource: { table } };
const plan = { principal: { id: 'ann' }, action: 'read', resource: { kind: 'document' } };
const cerbosCheck = { resource: { kind: 'document', id: 'plan' }, actions: ['read'] };
const explained = { 'x-debug': 'true' };
const contextual_facts = { role_assignments: [] };
const nginx = {
	'permit-user-key': 'nobody',
	'permit-tenant-id': 'default',
	'permit-action': 'read',
	'permit-resource-type': 'document',
};

const questions: readonly (readonly [
	operationId: string,
	path: string,
	body: unknown,
	headers?: Record<string, string>,
])[] = [
	['check', '/allowed', check],
	['check', '/allowed', asked],
	['check', '/allowed', { ...asked, user: 'ben' }],
	['check', '/allowed', { ...asked, user: 'nobody' }],
	['check', '/allowed', { ...asked, action: 'write' }],
	['check', '/allowed', { ...asked, action: 'fly', resource: 'document' }],
	['check', '/allowed', { ...check, user: 'cleo', use_debugger: 'attempts' }],
	['check', '/allowed', { ...asked, user: { key: 'dan', attributes: { level: 9 } } }],
	['check', '/allowed', { ...check, user: 'ben', use_debugger: 'attempts' }],
	['check', '/allowed', { user: 'ann' }],
	['check', '/allowed', check, { 'x-min-revision': 'newest' }],
	['checkMany', '/allowed/bulk', [check, asked]],
	['checkMany', '/allowed/bulk', { checks: [asked] }],
	['checkAllTenants', '/allowed/all-tenants', asked],
	['checkUrl', '/allowed_url', url],
	['checkUrl', '/allowed_url', { ...url, url: 'https://example.com/other', use_debugger: true }],
	['checkUrl', '/allowed_url', { ...url, use_debugger: true }],
	['checkForNginx', '/nginx_allowed', undefined, nginx],
	['checkForNginx', '/nginx_allowed?deny_status=401', undefined, nginx],
	['checkForNginx', '/nginx_allowed?deny_status=403', undefined, nginx],
	['checkForNginx', '/nginx_allowed', undefined],
	['checkForKong', '/kong', { input: { request: { http: { method: 'GET', path: '/' } } } }],
	['checkForTrino', '/trino/allowed', { input: { context: { identity: { user: 'ann' } }, action: operation } }],
	[
		'listRowFiltersForTrino',
		'/trino/row-filter',
		{ input: { context: { identity: { user: 'ann' } }, action: operation } },
	],
	['listUserPermissions', '/user-permissions', { user: 'ann', resource_types: ['document', '__tenant'] }],
	['listUserTenants', '/user-tenants', { user: 'ann' }],
	['listAuthorizedUsers', '/authorized_users', { action: 'read', resource }],
	['filter', '/filter', { ...check, resource: 'document' }, explained],
	['filter', '/filter', { ...check, resource: { type: 'document', tenant: 'none' } }, explained],
	['listFilterKeys', '/filter/keys', { ...check, resource: 'document' }],
	['listFilterKeys', '/filter/keys', { ...check, resource: 'document', cursor: 'x' }],
	['filterResources', '/filter_resources', { ...check, resource: 'document' }],
	['planResources', '/api/plan/resources', plan],
	['planResources', '/api/plan/resources', { ...plan, action: 'fly' }],
	['planResources', '/api/plan/resources', {}],
	['checkResources', '/api/check/resources', { principal: { id: 'ann' }, resources: [cerbosCheck] }],
	['accessEvaluation', '/access/v1/evaluation', evaluation],
	['accessEvaluation', '/access/v1/evaluation', evaluation, explained],
	['accessEvaluation', '/access/v1/evaluation', {}],
	['accessEvaluations', '/access/v1/evaluations', { ...evaluation, evaluations: [{}, { action: 5 }] }, explained],
	['accessEvaluations', '/access/v1/evaluations', evaluation],
	['searchSubjects', '/access/v1/search/subject', { ...evaluation, subject: { type: 'user' } }],
	['searchResources', '/access/v1/search/resource', { ...evaluation, resource: { type: 'document' } }],
	[
		'searchResources',
		'/access/v1/search/resource',
		{ ...evaluation, resource: { type: 'document' }, contextual_facts },
	],
	['searchActions', '/access/v1/search/action', { subject, resource: evaluation.resource, contextual_facts }],
	['searchActions', '/access/v1/search/action', { subject, resource: evaluation.resource, page: { limit: 1 } }],
	['triggerPolicyUpdate', '/policy-updater/trigger', undefined],
];

test('responses match the document, including reasons and headers', async (t) => {
	const { environment, pdp } = stack;
	const created = async (path: string, body: unknown) => {
		const answer = await environment.post(path, body);
		t.is(answer.status, 200, `${path} ${JSON.stringify(answer.body)}`);
		return answer.revision;
	};
	const actions = { read: {}, write: {} };
	const roles = { viewer: { name: 'Viewer', permissions: ['read'] } };
	await created(`${schema}/resources`, { key: 'folder', name: 'Folder', actions, roles });
	const granted_to = { users_with_role: [{ role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }] };
	await created(`${schema}/resources`, {
		key: 'document',
		name: 'Document',
		actions,
		relations: { parent: 'folder' },
		roles: { viewer: { ...roles.viewer, granted_to } },
	});
	await created(`${schema}/roles`, { key: 'reader', name: 'Reader', permissions: ['document:read'] });
	await created(`${schema}/users/attributes`, { key: 'level', type: 'number' });
	await created(`${schema}/condition_sets`, {
		key: 'seniors',
		name: 'Seniors',
		conditions: { 'user.level': { 'greater-than': 5 } },
	});
	const rule = { user_set: 'seniors', permission: 'document:read', resource_set: 'document', is_resource: true };
	await created(`${facts}/set_rules`, rule);
	for (const key of ['ben', 'dan']) await created(`${facts}/users`, { key, attributes: { level: 1 } });
	await created(`${facts}/users`, { key: 'ann', role_assignments: [{ role: 'reader', tenant: 'default' }] });
	const tuple = { subject: 'folder:finance', relation: 'parent', object: 'document:plan', tenant: 'default' };
	await created(`${facts}/relationship_tuples`, tuple);
	const held = { role: 'viewer', resource_instance: 'folder:finance' };
	const mapped = {
		url: 'https://example.com/documents/{id}',
		http_method: 'get',
		resource: 'document',
		action: 'read',
	};
	await created(`${facts}/proxy_configs`, { key: 'web', name: 'Web', secret: 's', mapping_rules: [mapped] });
	await stack.reached(await created(`${facts}/users`, { key: 'cleo', role_assignments: [held] }));

	for (const [operationId, path, body, headers] of questions) {
		const answer = await pdp.post(path, body, headers === undefined ? {} : { headers });
		t.is(disagreement(operationId, answer), null, `${path} ${JSON.stringify(body)} ${JSON.stringify(answer.body)}`);
	}
	for (const [operationId, path] of [
		['listLocalRoleAssignments', '/local/role_assignments?user=ann&per_page=5'],
		['listLocalRoleAssignments', '/local/role_assignments?page=0'],
		['ready', '/ready'],
		['healthy', '/healthy'],
		['version', '/version'],
		['authzenConfiguration', '/.well-known/authzen-configuration'],
	] as const) {
		const answer = await pdp.get(path);
		t.is(disagreement(operationId, answer), null, `${path} ${JSON.stringify(answer.body)}`);
	}
	const stranger = client(stack.decisionPoint.listening.url);
	for (const [operationId, path] of [
		['check', '/allowed'],
		['checkForNginx', '/nginx_allowed'],
	] as const) {
		t.is(disagreement(operationId, await stranger.post(path, check)), null, path);
	}
});
