// @rest

import test, { type ExecutionContext } from 'ava';
import { type Client, client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { type OpaServer, startOpa } from '../support/opa.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/** A stock `opa run` follows the feed of the same environment, and decides like the decision point. */

const resources = ['document', 'folder', 'report', 'nothing'];
const actions = ['read', 'write', 'archive'];
const users = ['ann@example.com', 'bob|1', 'cat', 'nobody'];
const tenants = ['acme', 'beta', 'gamma', 'nowhere'];

const population: readonly (readonly [path: string, body: unknown])[] = [
	[`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {}, write: {} } }],
	[`${schema}/resources`, { key: 'folder', name: 'Folder', actions: { read: {} } }],
	[`${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['document:read', 'folder:read'] }],
	[`${schema}/roles`, { key: 'editor', name: 'Editor', permissions: ['document:write'], extends: ['viewer'] }],
	[`${facts}/tenants`, { key: 'acme', name: 'acme' }],
	[`${facts}/tenants`, { key: 'beta', name: 'beta' }],
	[`${facts}/tenants`, { key: 'gamma', name: 'gamma' }],
	[`${facts}/users`, { key: 'ann@example.com', role_assignments: [{ role: 'editor', tenant: 'acme' }] }],
	[`${facts}/users`, { key: 'bob|1', role_assignments: [{ role: 'viewer', tenant: 'beta' }] }],
	[`${facts}/users`, { key: 'cat' }],
];

test('a stock OPA loads the environment, follows it, and decides like the decision point', async (t) => {
	const stack = await startStack();
	t.teardown(stack.stop);
	for (const [path, body] of population) await written(stack.environment, 'POST', path, body);
	const opa = await started(t, stack);
	t.is(await opa.lastBundle(), 'snapshot');
	const seen = new Set(await agreed(t, stack, opa, await newest(stack)));
	t.deepEqual([...seen].sort(), [
		'allow',
		'no_permission',
		'no_role_in_tenant',
		'no_such_action',
		'no_such_resource',
		'no_such_tenant',
		'no_user_roles',
		'user_not_synced',
	]);

	const assignment = { user: 'cat', role: 'viewer', tenant: 'gamma' };
	await step(t, stack, opa, 'delta', () => written(stack.environment, 'POST', `${facts}/role_assignments`, assignment));
	t.deepEqual(await decided(opa, 'cat', 'read', 'document', 'gamma'), { allow: true, code: 'allow' });

	// OPA deltas cannot reliably remove data, so removals come as snapshots.
	await step(t, stack, opa, 'snapshot', () =>
		written(stack.environment, 'DELETE', `${facts}/role_assignments`, assignment),
	);
	t.deepEqual(await decided(opa, 'cat', 'read', 'document', 'gamma'), { allow: false, code: 'no_user_roles' });

	// This write changes Rego, which OPA deltas cannot contain.
	const report = { key: 'report', name: 'Report', actions: { read: {}, archive: {} } };
	await step(t, stack, opa, 'snapshot', () => written(stack.environment, 'POST', `${schema}/resources`, report));
	t.deepEqual(await decided(opa, 'ann@example.com', 'archive', 'report', 'acme'), {
		allow: false,
		code: 'no_permission',
	});

	// Role permissions are data in tables, so they come as a delta.
	const permissions = { permissions: ['report:archive'] };
	await step(t, stack, opa, 'delta', () =>
		written(stack.environment, 'POST', `${schema}/roles/viewer/permissions`, permissions),
	);
	t.deepEqual(await decided(opa, 'ann@example.com', 'archive', 'report', 'acme'), { allow: true, code: 'allow' });

	await step(t, stack, opa, 'snapshot', () => written(stack.environment, 'DELETE', `${facts}/tenants/acme`));
	t.deepEqual(await decided(opa, 'ann@example.com', 'read', 'document', 'acme'), {
		allow: false,
		code: 'no_such_tenant',
	});

	await step(t, stack, opa, 'snapshot', () =>
		written(stack.environment, 'DELETE', `${facts}/users/${encodeURIComponent('bob|1')}`),
	);
	t.deepEqual(await decided(opa, 'bob|1', 'read', 'document', 'beta'), { allow: false, code: 'user_not_synced' });

	// The last stored snapshot is outdated by now. A new OPA must never use this snapshot, not even briefly.
	const late = { user: 'cat', role: 'editor', tenant: 'beta' };
	const revision = await written(stack.environment, 'POST', `${facts}/role_assignments`, late);
	const newcomer = await started(t, stack);
	t.is(await newcomer.lastBundle(), 'snapshot');
	await agreed(t, stack, newcomer, revision);
});

test('a change without effect on the data does not update a stock OPA', async (t) => {
	const stack = await startStack();
	t.teardown(stack.stop);
	for (const [path, body] of population) await written(stack.environment, 'POST', path, body);
	const opa = await started(t, stack);
	await agreed(t, stack, opa, await newest(stack));
	const held = async () => [await opa.data('regolith/facts'), await opa.data('regolith/schema')];
	const before = await held();

	// OPA would treat a delta without patches as an empty snapshot, and lose all users.
	for (const description of ['A', 'An', 'The customer']) {
		const path = `${facts}/tenants/acme`;
		await stack.reached(await written(stack.environment, 'PATCH', path, { description }));
		t.deepEqual(await held(), before);
	}
	t.deepEqual(await decided(opa, 'ann@example.com', 'write', 'document', 'acme'), { allow: true, code: 'allow' });

	// The next bundle continues from OPA's revision, and brings OPA to the newest revision.
	const assignment = { user: 'cat', role: 'editor', tenant: 'beta' };
	await step(t, stack, opa, 'delta', () => written(stack.environment, 'POST', `${facts}/role_assignments`, assignment));
	t.deepEqual(await decided(opa, 'cat', 'write', 'document', 'beta'), { allow: true, code: 'allow' });
});

const checkRequests = [
	{ user: { key: 'ann@example.com' }, action: 'write', resource: { type: 'document', tenant: 'acme' } },
	{ user: 'ann@example.com', action: 'write', resource: { type: 'document', key: '', tenant: 'acme' } },
	{ user: 'bob|1', action: 'read', resource: 'document:plan' },
	{ user: 'bob|1', action: 'read', resource: { type: 'document', key: 'plan', tenant: 'beta', attributes: null } },
	{ user: { key: 'bob|1', firstName: 'Bob', attributes: {} }, action: 'read', resource: 'folder', context: null },
	{ user: 'cat', action: 'write', resource: { type: 'document', key: 'plan', tenant: 'beta' } },
	{ user: { key: 'dan', email: null, attributes: { level: 9 } }, action: 'archive', resource: 'document' },
	{ user: { key: 'dan', attributes: { level: 1 } }, action: 'archive', resource: { type: 'document', tenant: '' } },
].flatMap((input) => [
	['permit/root', input] as const,
	['permit/bulk', [input, { ...input, action: 'fly' }]] as const,
	['permit/bulk', { checks: [input] }] as const,
	['permit/any_tenant', input] as const,
	['permit/all_tenants', input] as const,
]);

const listingRequests = ['ann@example.com', 'bob|1', 'cat', 'nobody'].flatMap((user) => [
	['permit/user_permissions', { user, tenants: null, resources: [] }] as const,
	['permit/user_permissions', { user: { key: user }, resource_types: ['document'] }] as const,
	['permit/user_permissions', { user, tenants: ['__tenant:beta'], resource_types: ['__tenant'] }] as const,
	['permit/user_permissions/tenants', { user }] as const,
]);

/** Requests in every form that clients send, with their paths. */
const requests: readonly (readonly [path: string, input: unknown])[] = [
	...checkRequests,
	...listingRequests,
	['permit/nothing', {}],
];

test('Data API clients get the same results from a stock OPA and the decision point', async (t) => {
	const stack = await startStack();
	t.teardown(stack.stop);
	for (const [path, body] of population) await written(stack.environment, 'POST', path, body);
	for (const [path, body] of [
		[`${schema}/users/attributes`, { key: 'level', type: 'number' }],
		[`${schema}/resources/document/actions`, { key: 'archive', name: 'Archive' }],
		[`${schema}/resources/document/roles`, { key: 'owner', name: 'Owner', permissions: ['write'] }],
		[`${facts}/resource_instances`, { resource: 'document', key: 'plan', tenant: 'beta' }],
		[`${facts}/role_assignments`, { user: 'cat', role: 'owner', resource_instance: 'document:plan' }],
		[
			`${schema}/condition_sets`,
			{ key: 'senior', name: 'Senior', type: 'userset', conditions: { 'user.level': { 'greater-than': 5 } } },
		],
		[`${facts}/set_rules`, { user_set: 'senior', permission: 'document:archive', resource_set: '__autogen_document' }],
	] as const) {
		await written(stack.environment, 'POST', path, body);
	}
	const revision = await newest(stack);
	await stack.reached(revision);
	const opa = await started(t, stack);
	await eventually(
		() => opa.revision(),
		(seen) => seen === String(revision),
	);
	const { dataApi } = stack.decisionPoint;
	const ours = client(dataApi?.url ?? '', stack.keys.environment);
	const allowed = new Set<unknown>();
	for (const [path, input] of requests) {
		const { body, status } = await ours.post(`/v1/data/${path}`, { input });
		t.is(status, 200, path);
		const theirs = await opa.data(path, input);
		t.deepEqual(comparable(body['result']), comparable(theirs), `${path} ${JSON.stringify(input)}`);
		if (path === 'permit/root') allowed.add((theirs as Decision).allow);
	}
	t.deepEqual([...allowed].sort(), [false, true]);
	const explained = { user: 'cat', action: 'write', resource: 'document:plan', use_debugger: true };
	const reasons = await ours.post('/v1/data/permit/root', {
		input: { ...explained, resource: { type: 'document', key: 'plan', tenant: 'beta' } },
	});
	t.like(reasons.body['result'], { allow: true, allowing_sources: ['rebac'], debugger_activated: true });
	t.is((await client(dataApi?.url ?? '').post('/v1/data/permit/root', { input: explained })).status, 401);
	t.like((await ours.post('/v1/data/permit/root', { input: {} })).body, { code: 'invalid_parameter' });
});

/**
 * Sorts lists whose order has no meaning, and removes details about access models that a stock OPA returns even if no
 * reasons are requested.
 */
function comparable(result: unknown): unknown {
	return JSON.parse(JSON.stringify(result ?? null), (name, value: unknown) => {
		if (name === 'allowing_sources') return undefined;
		const unordered = name === 'permissions' || name === 'roles' || name === 'tenants' || name === '';
		if (!Array.isArray(value) || !unordered) return value;
		return value.toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
	});
}

async function started(t: ExecutionContext, { api, keys, environment }: Stack): Promise<OpaServer> {
	const { environment_id } = (await environment.get('/v2/api-key/scope')).body;
	const resource = `bundles/${environment_id}/rego`;
	const opa = await startOpa(temporary(t), { url: api.listening.url, resource, apiKey: keys.environment });
	t.teardown(opa.stop);
	return opa;
}

/**
 * Sends a write, waits until OPA has reached the write's revision with a bundle of this kind, and compares all
 * decisions.
 */
async function step(
	t: ExecutionContext,
	stack: Stack,
	opa: OpaServer,
	kind: 'delta' | 'snapshot',
	write: () => Promise<number>,
): Promise<void> {
	await agreed(t, stack, opa, await write());
	t.is(await opa.lastBundle(), kind);
}

/**
 * Sends every question to OPA and the decision point at the same revision, and asserts equal decisions. Returns their
 * codes.
 */
async function agreed(t: ExecutionContext, stack: Stack, opa: OpaServer, revision: number): Promise<readonly string[]> {
	await stack.reached(revision);
	await eventually(
		() => opa.revision(),
		(seen) => seen === String(revision),
	);
	const questions = users.flatMap((user) =>
		tenants.flatMap((tenant) => resources.flatMap((type) => actions.map((action) => ({ user, action, type, tenant })))),
	);
	const asked = questions.map(({ user, action, type, tenant }) => ({ user, action, resource: { type, tenant } }));
	const headers = { 'x-debug': 'true' };
	const ours = await stack.pdp.post<{ readonly allow: readonly Explained[] }>('/allowed/bulk', asked, { headers });
	t.is(ours.revision, revision);
	const theirs = await Promise.all(
		questions.map(({ user, action, type, tenant }) => decided(opa, user, action, type, tenant)),
	);
	const named = (decisions: readonly Decision[]) => decisions.map((decision, index) => ({ ...asked[index], decision }));
	t.deepEqual(named(theirs), named(ours.body.allow.map(({ allow, debug }) => ({ allow, code: debug.rbac.code }))));
	return theirs.map(({ code }) => code);
}

interface Explained {
	readonly allow: boolean;
	readonly debug: { readonly rbac: { readonly code: string } };
}

interface Decision {
	readonly allow: boolean;
	readonly code: string;
}

async function decided(opa: OpaServer, user: string, action: string, type: string, tenant: string): Promise<Decision> {
	const input = { user: { key: user }, action, resource: { type, tenant } };
	return (await opa.data('regolith/check/decision', input)) as Decision;
}

async function newest({ environment }: Stack): Promise<number> {
	const { body } = await environment.get('/v2/projects/default/dev/policy');
	return Number(body['revision']);
}

/** Sends a write that must succeed. Returns its revision. */
async function written(api: Client, method: string, path: string, body?: unknown): Promise<number> {
	const { status, revision, body: answer } = await api.send(method, path, body);
	if (status >= 300 || revision === undefined)
		throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
	return revision;
}
