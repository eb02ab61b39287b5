import test from 'ava';
import { catalogue } from '../../src/failure.js';
import { createApplication, listen } from '../../src/http/server.js';
import { createDecisionPoint } from '../../src/pdp/endpoints.js';
import { client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { acme, quiet, snapshot } from './environment.js';
import { key, type Served, serve } from './served.js';

/** A decision point whose environment was deleted reports the deletion, denies every check and lists nothing. */

const annWrites = { user: 'ann', action: 'write', resource: { type: 'document', tenant: 'acme' } };
const code = 'environment_deleted';
const denied = { allow: false, result: false };

async function ready(served: Served): Promise<void> {
	served.feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model: acme }) });
	await served.replica.reached(7);
}

async function until({ replica }: Served, kind: string): Promise<void> {
	await eventually(
		() => replica.state.kind,
		(state) => state === kind,
	);
}

const evaluation = {
	subject: { type: 'user', id: 'ann' },
	action: { name: 'write' },
	resource: { type: 'document', id: '', properties: { tenant: 'acme' } },
};
const { subject, action, resource } = evaluation;
const table = { table: { catalogName: 'lake', schemaName: 'sales', tableName: 'orders' } };
const trino = (operation: string) => ({
	input: {
		context: { identity: { user: 'ann', groups: [] }, softwareStack: { trinoVersion: '400' } },
		action: { operation, resource: table },
	},
});
const url = { user: 'ann', http_method: 'GET', url: 'https://api.example.com/documents', tenant: 'acme' };

/** Every kind of query, with its result, or a part of it, after the deletion. */
const questions: readonly (readonly [path: string, body: unknown, answer: unknown])[] = [
	['/allowed', annWrites, denied],
	['/allowed', { ...annWrites, use_debugger: true }, { ...denied, debug: { code } }],
	['/allowed', { ...annWrites, use_debugger: 'attempts' }, { ...denied, debug: { code } }],
	['/allowed/bulk', [annWrites, annWrites], { allow: [denied, denied] }],
	['/allowed/all-tenants', annWrites, { allowed_tenants: [] }],
	['/allowed_url', url, { allow: false, debug: { code } }],
	['/user-permissions', { user: 'ann' }, {}],
	['/user-permissions', { user: 'ann', tenants: ['acme'], resource_types: ['document', '__tenant'] }, {}],
	['/user-tenants', { user: 'ann' }, []],
	[
		'/authorized_users',
		{ action: 'write', resource: { type: 'document', tenant: 'acme' } },
		{ resource: 'document:*', tenant: 'acme', users: {} },
	],
	['/filter', { ...annWrites, resource: { type: 'document' } }, { type: 'always_deny' }],
	['/filter/keys', { ...annWrites, resource: { type: 'document' } }, { keys: [], next: null }],
	['/filter_resources', { ...annWrites, resource: { type: 'document' } }, { type: 'always_deny' }],
	['/access/v1/evaluation', evaluation, { decision: false }],
	['/access/v1/evaluations', { evaluations: [evaluation] }, { evaluations: [{ decision: false }] }],
	['/access/v1/search/subject', { subject: { type: 'user' }, action, resource }, { results: [] }],
	['/access/v1/search/resource', { subject, action, resource: { type: 'document' } }, { results: [] }],
	['/access/v1/search/action', { subject, resource }, { results: [] }],
	['/trino/allowed', trino('SelectFromColumns'), { result: false }],
];

test('after a deletion, every check is immediately denied with the code, and every listing is empty', async (t) => {
	const logged: string[] = [];
	const decisions = { add: (_: unknown, code: string) => void logged.push(code) };
	const rowFilters = new Map([
		['trino_table_lake_sales_orders', [{ action: 'OwnRows', expression: 'owner = current_user' }]],
	]);
	const gateways = { kongRoutes: null, trino: { rowFilters, columnMasks: new Map() }, openTrino: false };
	const served = await serve(t, { maxDataAge: 60_000, decisions, gateways });
	const { http, feed, replica } = served;
	await ready(served);
	t.is((await http.post('/allowed', annWrites)).body['allow'], true);
	logged.length = 0;
	const waiting = http.post('/allowed', annWrites, { headers: { 'x-min-revision': '99' } });
	feed.deleteEnvironment();
	t.is((await waiting).body['allow'], false, 'a request waiting for a revision gets the denial');
	for (const [path, body, answer] of questions) {
		const { status, body: told } = await http.post(path, body, { headers: { 'x-min-revision': '99' } });
		t.is(status, 200, path);
		if (Array.isArray(answer) || Object.keys(answer as object).length === 0) t.deepEqual(told as unknown, answer, path);
		else t.like(told as object, answer as object, path);
	}
	t.deepEqual([...new Set(logged)], [code, 'always_deny']);
	t.is((await http.post('/trino/row-filter', trino('GetRowFilters'))).status, 503, 'no data is shown unfiltered');
	t.deepEqual((await http.get('/local/role_assignments')).body as unknown, []);
	for (const path of ['/healthy', '/ready']) {
		const { status, body } = await http.get(path);
		t.is(status, 200);
		t.like(body, { status: 'degraded', online: true, state: 'deleted', revision: 7, degraded: null });
		t.regex(String(body['detail']), /the environment was deleted/);
	}
	t.is((await client(served.url, 'another').post('/allowed', annWrites)).status, 403);
	t.is(replica.state.kind, 'deleted');
});

test('after a deletion, checks by Data API clients are denied', async (t) => {
	const served = await serve(t);
	await ready(served);
	const point = createDecisionPoint({ replica: served.replica, apiKey: key, log: quiet });
	const listening = await listen(createApplication({ ...point.dataApi, onUnexpected: () => t.fail() }), '127.0.0.1', 0);
	t.teardown(() => listening.close(0));
	served.feed.deleteEnvironment();
	await until(served, 'deleted');
	const http = client(listening.url, key);
	const ask = async (path: string, input: unknown) =>
		(await http.post(`/v1/data/permit/${path}`, { input })).body['result'];
	t.like(await ask('root', { ...annWrites, use_debugger: true }), { allow: false, debug: { code } });
	t.deepEqual(await ask('user_permissions', { user: 'ann' }), { permissions: {}, tenants: [] });
});

test('the environment counts as deleted while the key is rejected or the control plane is unreachable, until a revision arrives', async (t) => {
	const served = await serve(t);
	const { http, feed, replica } = served;
	await ready(served);
	feed.deleteEnvironment();
	await until(served, 'deleted');
	for (const end of [() => feed.refuse(401), () => feed.refuse(500), () => feed.stop()]) {
		await end();
		const asked = feed.seen.length;
		await eventually(
			() => http.post('/allowed', annWrites),
			({ body }) => body['allow'] === false && feed.seen.length >= asked,
		);
		t.is(replica.state.kind, 'deleted');
	}
	feed.refuse(undefined);
	feed.publish({ revision: 3, snapshot: await snapshot({ revision: 3, model: acme }) });
	await feed.start();
	await until(served, 'ready');
	const { body, revision } = await http.post('/allowed', annWrites);
	t.deepEqual([body['allow'], revision], [true, 3]);
});

test('a decision point started with the key of a deleted environment denies every check', async (t) => {
	const served = await serve(t);
	served.feed.deleteEnvironment();
	await until(served, 'deleted');
	const { status, body } = await served.http.post('/allowed', { ...annWrites, use_debugger: true });
	t.is(status, 200);
	t.like(body, { ...denied, debug: { code } });
	t.is((await served.http.get('/ready')).status, 200);
});

const elsewhere = 'This API version is no longer supported';

for (const [status, title, kind, answer] of [
	[401, elsewhere, 'refused', 503],
	[403, elsewhere, 'refused', 503],
	[404, catalogue.not_found.title, 'refused', 503],
	[404, elsewhere, 'stale', 200],
	[410, elsewhere, 'stale', 200],
] as const) {
	test(`${status} with the title "${title}" does not mean a deletion: the state is ${kind}`, async (t) => {
		const served = await serve(t);
		await ready(served);
		served.feed.refuse(status, { title });
		await until(served, kind);
		t.is((await served.http.post('/allowed', annWrites)).status, answer);
	});
}
