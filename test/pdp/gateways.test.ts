import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readConfig } from '../../src/config.js';
import { type GatewaySettings, readGatewaySettings } from '../../src/pdp/gateway/gateway-settings.js';
import { client } from '../support/client.js';
import { removeFolder, temporaryFolder } from '../support/temporary.js';
import { serving } from './cases.js';
import { acme, policyWasm, resource, step, wasmFrom } from './environment.js';
import { policyOfCode } from './policy-of-code.js';

/** Checks in gateway formats, over HTTP. */

const columns = ['id', 'price', 'name'].map((column) => `trino_column_lake_sales_orders_${column}`);

/** Trino operations as permissions. Ann has access to the whole table, ben has no role, and cleo reads two columns. */
const model = {
	schema: {
		...acme.schema,
		resources: [
			resource('document', ['read', 'write', 'get', 'post']),
			resource('trino_sys', ['ExecuteQuery', 'SetSystemSessionProperty']),
			resource('trino_catalog_lake', ['AccessCatalog', 'FilterCatalogs']),
			resource('trino_schema_lake_sales', ['ShowTables', 'FilterSchemas']),
			resource('trino_table_lake_sales_orders', [
				'SelectFromColumns',
				'FilterColumns',
				'OwnRows',
				'Hide',
				'AddColumnMask',
			]),
			resource('trino_function_lake_sales_sum', ['ExecuteFunction']),
			...columns.map((column) => resource(column, ['SelectFromColumns', 'FilterColumns', 'Hide'])),
		],
		roles: [
			granting('everything', {
				document: ['get', 'read'],
				trino_sys: ['ExecuteQuery'],
				trino_catalog_lake: ['AccessCatalog', 'FilterCatalogs'],
				trino_schema_lake_sales: ['ShowTables'],
				trino_table_lake_sales_orders: ['SelectFromColumns', 'FilterColumns', 'OwnRows'],
				trino_function_lake_sales_sum: ['ExecuteFunction'],
			}),
			granting('two-columns', {
				trino_column_lake_sales_orders_id: ['SelectFromColumns', 'FilterColumns'],
				trino_column_lake_sales_orders_name: ['SelectFromColumns', 'FilterColumns', 'Hide'],
				trino_table_lake_sales_orders: ['AddColumnMask'],
			}),
		],
	},
	facts: {
		...acme.facts,
		users: ['ann', 'ben', 'cleo'],
		role_assignments: [
			{ user: 'ann', role: 'everything', tenant: 'default' },
			{ user: 'cleo', role: 'two-columns', tenant: 'default' },
		],
	},
};

function granting(key: string, grants: Readonly<Record<string, readonly string[]>>) {
	const permissions = Object.entries(grants).flatMap(([type, actions]) =>
		actions.map((action) => ({ resource: type, action })),
	);
	return { key, name: key, description: null, permissions, extends: [] };
}

test.before('build the policy', async () => {
	await policyWasm(model);
});

/** Returns the settings read from these variables and files. */
async function settings(
	t: ExecutionContext,
	variables: Readonly<Record<string, string>>,
	files: Readonly<Record<string, string>> = {},
): Promise<GatewaySettings> {
	const folder = temporaryFolder();
	t.teardown(() => removeFolder(folder));
	const paths = Object.entries(files).map(([name, text], index) => {
		const path = join(folder, `file-${index}`);
		writeFileSync(path, text);
		return [name, path] as const;
	});
	return readGatewaySettings(readConfig({ ...variables, ...Object.fromEntries(paths) }).gateways);
}

const nginx = {
	'permit-user-key': 'ann',
	'permit-tenant-id': 'default',
	'permit-action': 'read',
	'permit-resource-type': 'document',
};

test('nginx sends headers and reads the decision from the status', async (t) => {
	const { http, url } = await serving(t, model);
	const ask = (more: object, path = '/nginx_allowed') =>
		http.post(path, undefined, { headers: { ...nginx, ...more }, raw: 'ignored' });
	const yes = { allow: true, result: true };
	const no = { allow: false, result: false };
	for (const [more, path, status, body] of [
		[{}, '/nginx_allowed', 200, yes],
		[{}, '/nginx_allowed?deny_status=403', 200, yes],
		[{ 'permit-action': 'write' }, '/nginx_allowed', 200, no],
		[{ 'permit-action': 'write' }, '/nginx_allowed?deny_status=403', 403, no],
		[{ 'permit-tenant-id': 'acme' }, '/nginx_allowed?deny_status=401', 401, no],
		[{ 'permit-user-key': 'nobody' }, '/nginx_allowed?deny_status=403', 403, no],
		[{ 'permit-resource-type': 'nothing' }, '/nginx_allowed?deny_status=403', 403, no],
	] as const) {
		const answer = await ask(more, path);
		t.is(answer.status, status);
		t.is(answer.revision, 7);
		t.deepEqual(answer.body, body, JSON.stringify(more));
	}
	const places = async (answer: Promise<{ status: number; body: unknown }>) => {
		const { status, body } = await answer;
		t.is(status, 422);
		return (body as { detail: { loc: unknown }[] }).detail.map(({ loc }) => loc);
	};
	t.deepEqual(
		await places(http.post('/nginx_allowed')),
		Object.keys(nginx).map((name) => ['header', name]),
	);
	t.deepEqual(await places(ask({ 'permit-action': '' })), [['header', 'permit-action']]);
	t.deepEqual(await places(ask({}, '/nginx_allowed?deny_status=200')), [['query', 'deny_status']]);
	t.is((await client(url).post('/nginx_allowed', undefined, { headers: nginx })).status, 401);
});

const routes = JSON.stringify([
	['/documents', 'document'],
	['^/t/([a-z]+)(?:/.*)?$', 1],
	['/(x)?', 1],
]);

const kongCases: readonly (readonly [
	username: string | null | undefined,
	method: string,
	path: string,
	allow: boolean,
])[] = [
	['ann', 'GET', '/documents/7', true],
	['ann', 'POST', '/documents/7', false],
	['ann', 'get', '/t/document/7', true],
	['ann', 'GET', '/t/nothing', false],
	['ann', 'GET', '/other', false],
	['ann', 'GET', 'documents', false],
	['ben', 'GET', '/documents/7', false],
	[null, 'GET', '/documents/7', false],
	[undefined, 'GET', '/documents/7', false],
	['', 'GET', '/documents/7', false],
];

test('Kong checks use the routes table', async (t) => {
	const gateways = await settings(t, { PDP_KONG_INTEGRATION: 'true' }, { PDP_KONG_ROUTES_PATH: routes });
	const { http, url } = await serving(t, model, { gateways });
	for (const [username, method, path, allow] of kongCases) {
		const consumer = username === undefined ? {} : { consumer: { id: 'c', username } };
		const input = { request: { http: { host: 'h', port: 80, method, path } }, ...consumer };
		const answer = await http.post('/kong', { input });
		t.is(answer.status, 200);
		t.is(answer.revision, 7);
		t.deepEqual(answer.body, { result: allow }, `${username} ${method} ${path}`);
	}
	const anonymous = { input: { request: { http: { method: 'GET', path: '/documents' } }, consumer: null } };
	t.deepEqual((await http.post('/kong', anonymous)).body, { result: false });
	const wrong = await http.post<{ detail: { loc: unknown }[] }>('/kong', {
		input: { request: { http: { method: 1 } } },
	});
	t.is(wrong.status, 422);
	t.deepEqual(
		wrong.body.detail.map(({ loc }) => loc),
		[
			['body', 'input', 'request', 'http', 'method'],
			['body', 'input', 'request', 'http', 'path'],
		],
	);
	t.is((await client(url).post('/kong', anonymous)).status, 401);
	const off = await serving(t, model);
	const refused = await off.http.post('/kong', anonymous);
	t.is(refused.status, 503);
	t.regex(String(refused.body['detail']), /PDP_KONG_INTEGRATION/);
});

const orders = { catalogName: 'lake', schemaName: 'sales', tableName: 'orders' };
const table = (...names: readonly string[]) => ({ table: { ...orders, ...(names.length > 0 && { columns: names }) } });

const operations: readonly (readonly [
	user: string,
	operation: string,
	resource: object | undefined,
	allow: boolean,
])[] = [
	['ann', 'ExecuteQuery', undefined, true],
	['ben', 'ExecuteQuery', undefined, false],
	['ann', 'AccessCatalog', { catalog: { name: 'lake' } }, true],
	['ann', 'AccessCatalog', { catalog: { name: 'other' } }, false],
	['ann', 'ShowTables', { schema: { catalogName: 'lake', schemaName: 'sales', properties: {} } }, true],
	['ann', 'SelectFromColumns', table('id', 'price'), true],
	['ann', 'SelectFromColumns', table(), true],
	['ann', 'ExecuteFunction', { function: { functionName: 'sum', schema: { ...orders } } }, true],
	['ann', 'ExecuteFunction', { function: { functionName: 'sum', catalogName: 'lake', schemaName: 'sales' } }, true],
	['ann', 'ExecuteFunction', { function: { functionName: 'sum' } }, false],
	['ann', 'ExecuteQuery', { user: { name: 'ben' } }, true],
	['ann', 'SetSystemSessionProperty', { systemSessionProperty: { name: 'p' } }, false],
	['ann', 'SelectFromColumns', { column: { ...orders, columnName: 'id', columnType: 'int' } }, false],
	['ann', 'SelectFromColumns', { branch: {} }, false],
	['cleo', 'SelectFromColumns', table('id', 'name'), true],
	['cleo', 'SelectFromColumns', table('id', 'price'), false],
	['cleo', 'SelectFromColumns', table(), false],
	['cleo', 'SelectFromColumns', { table: { ...orders, columns: [] } }, false],
];

const asked = (user: string, action: object) => ({
	input: { context: { identity: { user, groups: ['g'] }, softwareStack: { trinoVersion: '476' } }, action },
});

test('Trino checks operations on objects', async (t) => {
	const { http } = await serving(t, model);
	for (const [user, operation, resource, allow] of operations) {
		const { status, body, revision } = await http.post('/trino/allowed', asked(user, { operation, resource }));
		t.is(status, 200);
		t.is(revision, 7);
		t.deepEqual(body, { result: allow }, `${user} ${operation} ${JSON.stringify(resource)}`);
	}
});

test('Trino checks several objects in one request, with the same results as single checks', async (t) => {
	const { http } = await serving(t, model);
	for (const [user, operation, filterResources, expected] of [
		['ann', 'FilterCatalogs', ['other', 'lake', 'lake'].map((name) => ({ catalog: { name } })), [1, 2]],
		['ann', 'FilterSchemas', [{ schema: { catalogName: 'lake', schemaName: 'sales' } }], []],
		['ann', 'FilterCatalogs', [], []],
		['ann', 'FilterColumns', [table('id', 'price', 'name')], [0, 1, 2]],
		['cleo', 'FilterColumns', [table('id', 'price', 'name')], [0, 2]],
		['cleo', 'FilterColumns', [table()], []],
		['cleo', 'FilterColumns', [table('id'), table('price'), table('id', 'name')], [0, 2]],
		['cleo', 'SelectFromColumns', [table('id', 'price', 'name')], []],
	] as const) {
		const { body } = await http.post('/trino/allowed', asked(user, { operation, filterResources }));
		t.deepEqual(body, { result: [...expected] }, `${user} ${JSON.stringify(filterResources)}`);
	}
});

const rules = `
rowFilters:
  trino_table_lake_sales_orders:
    - { action: OwnRows, expression: "owner = current_user" }
    - { action: Hide, expression: "false" }
    - action: OwnRows
      expression: deleted = false
columnMasking:
  trino_table_lake_sales_orders:
    columns:
      - { column_name: price, view_expression: "NULL", identity: admin }
      - { column_name: name, view_expression: "'***'", action: Hide }
      - { column_name: name, view_expression: "'never'" }
      - { column_name: id, view_expression: "0", action: Hide }
`;

test('Trino gets row filters and column masks', async (t) => {
	const gateways = await settings(t, {}, { PDP_TRINO_AUTHZ_CONFIG_PATH: rules });
	const { http } = await serving(t, model, { gateways });
	const filters = async (user: string, resource: object | undefined) =>
		(await http.post('/trino/row-filter', asked(user, { operation: 'GetRowFilters', resource }))).body['result'];
	t.deepEqual(await filters('ann', table()), [
		{ expression: 'owner = current_user' },
		{ expression: 'deleted = false' },
	]);
	t.deepEqual(await filters('cleo', table()), []);
	t.deepEqual(await filters('ann', { catalog: { name: 'lake' } }), []);
	t.deepEqual(await filters('ann', undefined), []);
	t.deepEqual(await filters('ann', { table: { ...orders, tableName: 'other' } }), []);
	const column = (columnName: string) => ({ column: { ...orders, columnName, columnType: 'VARCHAR' } });
	const masks = async (user: string, filterResources: readonly object[] | undefined) =>
		(await http.post('/trino/batch-column-masking', asked(user, { operation: 'GetColumnMask', filterResources }))).body[
			'result'
		];
	t.deepEqual(await masks('cleo', [column('id'), column('name'), table(), column('price'), column('other')]), [
		{ index: 1, viewExpression: { expression: "'***'" } },
		{ index: 3, viewExpression: { expression: 'NULL', identity: 'admin' } },
	]);
	t.deepEqual(await masks('ann', [column('id'), column('price')]), []);
	t.deepEqual(await masks('cleo', undefined), []);
});

test('filters and masks that cannot be decided are rejected instead of dropped', async (t) => {
	const gateways = await settings(t, {}, { PDP_TRINO_AUTHZ_CONFIG_PATH: rules });
	const { http, feed, replica } = await serving(t, model, { gateways });
	const ask = (path: string, action: object) =>
		http.post(path, asked('ann', { operation: 'GetRowFilters', ...action }));
	let revision = 7;
	for (const [code, status] of [
		['no_permission', 200],
		['policy_pending', 503],
		['evaluation_failed', 503],
	] as const) {
		const wasm = await wasmFrom(policyOfCode(`code := "${code}"`));
		const bundle = await step({ base: revision, revision: revision + 1, patches: [], wasm });
		revision += 1;
		feed.publish({ revision, snapshot: Buffer.from(''), step: bundle });
		await replica.reached(revision);
		t.is((await ask('/trino/row-filter', { resource: table() })).status, status, code);
		const filterResources = [{ column: { ...orders, columnName: 'price' } }];
		t.is((await ask('/trino/batch-column-masking', { filterResources })).status, status, code);
		t.deepEqual((await ask('/trino/allowed', { resource: table() })).body, { result: false }, code);
	}
	const { http: outdated } = await serving(t, model, { gateways, maxDataAge: 0 });
	const filters = asked('ann', { operation: 'GetRowFilters', resource: table() });
	t.is((await outdated.post('/trino/row-filter', filters)).status, 503, 'the data is too old');
});

test('Trino requests require the key, unless the settings allow otherwise', async (t) => {
	const body = asked('ann', { operation: 'ExecuteQuery' });
	const closed = await serving(t, model);
	const open = await serving(t, model, { gateways: await settings(t, { PDP_ALLOW_UNAUTHENTICATED_TRINO: 'true' }) });
	for (const path of ['/trino/allowed', '/trino/row-filter', '/trino/batch-column-masking']) {
		t.is((await client(closed.url).post(path, body)).status, 401);
		t.is((await client(closed.url, 'wrong').post(path, body)).status, 403);
		t.is((await client(open.url).post(path, body)).status, 200);
	}
	t.is((await client(open.url).post('/allowed', {})).status, 401, 'only Trino endpoints');
});

const wrong: readonly (readonly [body: unknown, ...loc: readonly (string | number)[]])[] = [
	[{}, 'input'],
	[{ input: { action: { operation: 'ExecuteQuery' } } }, 'input', 'context'],
	[asked('ann', { operation: 'Nothing' }), 'input', 'action', 'operation'],
	[
		asked('ann', { operation: 'ShowTables', resource: { schema: {} } }),
		'input',
		'action',
		'resource',
		'schema',
		'catalogName',
	],
	[asked('ann', { operation: 'ShowTables', resource: { ...table(), user: {} } }), 'input', 'action', 'resource'],
	[asked('ann', { operation: 'FilterTables', filterResources: {} }), 'input', 'action', 'filterResources'],
];

test('reports the location of a problem in a Trino request', async (t) => {
	const { http } = await serving(t, model);
	for (const path of ['/trino/allowed', '/trino/row-filter', '/trino/batch-column-masking']) {
		for (const [body, ...loc] of wrong) {
			const answer = await http.post<{ detail: { loc: unknown }[] }>(path, body);
			t.is(answer.status, 422);
			t.deepEqual(answer.body.detail[0]?.loc, ['body', ...loc]);
		}
	}
});

const refusedFiles: readonly (readonly [setting: string, text: string, message: RegExp])[] = [
	['PDP_KONG_ROUTES_PATH', '[', /PDP_KONG_ROUTES_PATH: .* has an invalid format/],
	['PDP_KONG_ROUTES_PATH', '[["/a"]]', /has an invalid format/],
	['PDP_KONG_ROUTES_PATH', '[["(", "a"]]', /invalid expression at index 0/],
	['PDP_KONG_ROUTES_PATH', '[["/a", "a"], ["/(b)", 2]]', /invalid expression at index 1 .* group `2` does not exist/],
	['PDP_TRINO_AUTHZ_CONFIG_PATH', '{', /PDP_TRINO_AUTHZ_CONFIG_PATH: .* has an invalid format/],
	['PDP_TRINO_AUTHZ_CONFIG_PATH', 'rowFilter: {}', /rowFilter/],
	['PDP_TRINO_AUTHZ_CONFIG_PATH', 'rowFilters: {t: [{action: a}]}', /expression/],
];

test('the start fails if a file is missing or invalid', async (t) => {
	const kong = { PDP_KONG_INTEGRATION: 'true' };
	for (const [setting, text, message] of refusedFiles) {
		await t.throwsAsync(settings(t, kong, { PDP_KONG_ROUTES_PATH: '[]', [setting]: text }), {
			message,
			name: 'ConfigError',
		});
	}
	const missing = '/nowhere/at/all';
	await t.throwsAsync(settings(t, { ...kong, PDP_KONG_ROUTES_PATH: missing }), { message: /does not exist/ });
	await t.throwsAsync(settings(t, { PDP_TRINO_AUTHZ_CONFIG_PATH: missing }), { message: /does not exist/ });
	t.is((await settings(t, { PDP_KONG_ROUTES_PATH: missing })).kongRoutes, null, 'no setting uses the file');
	t.is((await settings(t, {}, { PDP_TRINO_AUTHZ_CONFIG_PATH: '' })).trino.rowFilters.size, 0);
});
