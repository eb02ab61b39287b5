/**
 * Filters in the formats of other products, through their published clients. In every format, the rows of the filter are
 * the rows that checks allow.
 */

import test, { type ExecutionContext } from 'ava';
import knex from 'knex';
import type { Json, Model } from '../../compiler/model.js';
import type { RowFilter } from '../../packages/engine/src/api.js';
import { applyFilter, toPrismaWhere, toSql } from '../../packages/engine/src/filter.js';
import { createApplication, listen } from '../../src/http/server.js';
import { createDecisionPoint } from '../../src/pdp/endpoints.js';
import { serving } from '../pdp/cases.js';
import { acme, quiet, resource } from '../pdp/environment.js';
import { key, type Served } from '../pdp/served.js';
import { type Client, client } from '../support/client.js';
import { selectedByCerbos, selectedByPrisma, selectedByUcast } from './interpreters.js';
import { importTool, openSqlite, requireTool } from './sqlite.js';

const named = (name: string) => ({ key: name, name, description: null });
const set = (name: string, type: 'userset' | 'resourceset', conditions: Json) => {
	const of = type === 'userset' ? null : 'document';
	return { ...named(name), type, resource: of, parent: null, selects: { conditions } } as const;
};
const reader = { permissions: ['read'], extends: [], derivations: [], no_direct_roles_on_object: false };
/** Conditions of rows, each with an action. */
const sets: Readonly<Record<string, Json>> = {
	own: { 'resource.owner': { equals: { ref: 'user.key' } } },
	foreign: { not: { 'resource.owner': { equals: { ref: 'user.key' } } } },
	high: { 'resource.level': { 'greater-than': 2 } },
	low: { not: { 'resource.level': { 'greater-than': 2 } } },
	unlisted: { 'resource.status': { 'not-in': ['draft', 'secret'] } },
	open: { anyOf: [{ 'resource.status': { equals: 'open' } }, { 'resource.owner': { 'is-null': true } }] },
	recent: { 'resource.at': { 'greater-than-equals': '2030-01-01T00:00:00.000Z' } },
	planned: { 'resource.name': { 'starts-with': 'plan' } },
	wild: { 'resource.name': { contains: '50%' } },
	matched: { 'resource.name': { matches: '^plan' } },
};
const actions = ['read', ...Object.keys(sets)];

const model: Model = {
	schema: {
		...acme.schema,
		resources: [{ ...resource('document', actions), roles: [{ ...named('reader'), ...reader }] }],
		roles: [{ ...named('viewer'), permissions: [{ resource: 'document', action: 'read' }], extends: [] }],
		condition_sets: [
			set('everyone', 'userset', {}),
			...Object.entries(sets).map(([name, conditions]) => set(`${name} documents`, 'resourceset', conditions)),
		],
		set_rules: Object.keys(sets).map((action) => {
			return { user_set: 'everyone', resource_set: `${action} documents`, resource: 'document', action };
		}),
	},
	facts: {
		...acme.facts,
		users: ['ann', 'ben', "o'hara"],
		role_assignments: [{ user: 'ann', role: 'viewer', tenant: 'acme' }],
		user_attributes: [],
		instances: ['d1', 'd2', 'd3'].map((one) => ({ type: 'document', key: one, tenant: 'acme' })),
		instance_assignments: ['d1', 'd3'].map((instance) => {
			return { user: 'ben', role: 'reader', type: 'document', instance };
		}),
		relationships: [],
	},
};

type DocumentRow = Readonly<Record<'key' | 'tenant', string>> & Readonly<Record<string, Json>>;

const rows: readonly DocumentRow[] = [
	{ key: 'd1', tenant: 'acme', owner: 'ann', level: 1, status: 'open', at: '2030-01-01T00:00:00.000Z', name: 'plan A' },
	{ key: 'd2', tenant: 'acme', owner: 'Ann', level: 2, status: 'Open', at: '2029-12-31T23:59:59.999Z', name: 'Plan B' },
	{ key: 'd3', tenant: 'acme', owner: null, level: 3, status: 'draft', at: null, name: '50% of a plan' },
	{
		key: 'x4',
		tenant: 'default',
		owner: "o'hara",
		level: null,
		status: null,
		at: '2031-01-01T00:00:00.000Z',
		name: null,
	},
	{ key: 'x5', tenant: 'default', owner: 'ann ', level: 10, status: 'secret', at: null, name: '500 plans' },
	{ key: 'x6', tenant: 'default', owner: "o''hara", level: 0, status: 'open ', at: null, name: 'planes' },
];
const names = ['key', 'tenant', 'owner', 'level', 'status', 'at', 'name'] as const;
const columns = {
	key: 'key',
	tenant: 'tenant',
	owner: { column: 'owner', type: 'string' },
	level: { column: 'level', type: 'number' },
	status: { column: 'status', type: 'string' },
	at: { column: 'at', type: 'time' },
	name: { column: 'name', type: 'string' },
};

/** A decision point with both listeners, and the rows in SQLite. */
interface World {
	readonly served: Served;
	readonly data: Client;
	readonly dataUrl: string;
	readonly select: (condition: string, parameters?: readonly unknown[]) => readonly unknown[];
}

async function createWorld(t: ExecutionContext): Promise<World> {
	const served = await serving(t, model);
	const { dataApi } = createDecisionPoint({ replica: served.replica, apiKey: key, log: quiet });
	const listening = await listen(
		createApplication({ ...dataApi, onUnexpected: (error) => t.fail(String(error)) }),
		'127.0.0.1',
		0,
	);
	t.teardown(() => listening.close(0));
	const sqlite = await openSqlite();
	sqlite.run(
		'create table documents (key text, tenant text, owner text, level integer, status text, at text, name text)',
	);
	for (const row of rows)
		sqlite.run(
			'insert into documents values (?, ?, ?, ?, ?, ?, ?)',
			names.map((name) => row[name]),
		);
	const select = (condition: string, parameters: readonly unknown[] = []) =>
		sqlite.column(`select key from documents where ${condition}`, parameters);
	return { served, data: client(listening.url, key), dataUrl: listening.url, select };
}

/** Returns the keys of the rows that checks with the rows' attributes allow. */
async function allowedKeys({ http }: Served, user: string, action: string): Promise<readonly string[]> {
	const checks = rows.map(({ key: one, tenant, ...attributes }) => {
		return { user, action, resource: { type: 'document', key: one, tenant, attributes } };
	});
	const { body } = await http.post<{ allow: { allow: boolean }[] }>('/allowed/bulk', checks);
	return rows.flatMap((row, index) => (body.allow[index]?.allow ? [row.key] : []));
}

const storedRows = rows.map(({ key: one, tenant, ...attributes }) => ({ key: one, tenant, attributes }));
const pick = (isSelected: (row: never) => boolean) =>
	storedRows.filter((row) => isSelected(row as never)).map((row) => row.key);

/** Actions whose condition a format refuses. */
const refusedBy = { sql: ['matched'], plan: ['planned', 'wild', 'matched'] };

/** Calls `run` for each user and action. `run` returns the selected keys, or `refused`. */
async function compareAll(
	t: ExecutionContext,
	{ served }: World,
	refused: readonly string[],
	run: (user: string, action: string) => Promise<readonly unknown[] | 'refused'>,
): Promise<void> {
	for (const user of ['ann', 'ben', "o'hara", 'stranger']) {
		for (const action of actions) {
			const expected = refused.includes(action) ? 'refused' : await allowedKeys(served, user, action);
			t.deepEqual(await run(user, action), expected, `${action} by ${user}`);
		}
	}
}

async function orRefused(run: () => Promise<readonly unknown[]>): Promise<readonly unknown[] | 'refused'> {
	try {
		return await run();
	} catch (error) {
		if (/cannot express|Status 422/.test(`${(error as { details?: unknown }).details} ${error}`)) return 'refused';
		throw error;
	}
}

test('@cerbos/http: a plan selects the rows that checks allow', async (t) => {
	const world = await createWorld(t);
	const { HTTP } = await importTool('@cerbos/http');
	const cerbos = new HTTP(world.served.url, { headers: { authorization: `Bearer ${key}` } });
	t.is((await cerbos.serverInfo()).version, '');
	await compareAll(t, world, refusedBy.plan, (user, action) =>
		orRefused(async () => {
			const principal = { id: user, roles: ['user'] };
			await cerbos.planResources({ principal, action, resource: { kind: 'document' } });
			// The client turns the condition into its own classes, so the interpreter reads the answer itself.
			const { body } = await world.served.http.post<{ filter: never }>('/api/plan/resources', {
				principal,
				action,
				resource: { kind: 'document' },
			});
			return pick(selectedByCerbos(body.filter, 'unknown'));
		}),
	);
	const { kind } = await cerbos.planResources({
		principal: { id: 'ann', roles: [] },
		actions: ['read', 'own'],
		resource: { kind: 'document', attr: { tenant: 'default' } },
	});
	t.is(kind, 'KIND_ALWAYS_DENIED');
	const check = {
		principal: { id: 'ben', roles: ['user'] },
		resource: { kind: 'document', id: 'd1', attr: { tenant: 'acme' } },
	};
	t.true(await cerbos.isAllowed({ ...check, action: 'read' }));
	t.false(await cerbos.isAllowed({ ...check, action: 'high' }));
	await t.throwsAsync(new HTTP(world.served.url).serverInfo(), { message: /Authorization/ });
});

test('@open-policy-agent/opa: filters for Prisma and in SQL select the rows that checks allow', async (t) => {
	const world = await createWorld(t);
	const { OPAClient } = requireTool('@open-policy-agent/opa');
	const opa = new OPAClient(world.dataUrl, { headers: { Authorization: `Bearer ${key}` } });
	const path = 'regolith/check/allow';
	const input = (user: string, action: string) => ({ user, action, resource: { type: 'document' } });
	const unknowns = ['input.resource'];
	await compareAll(t, world, refusedBy.sql, (user, action) =>
		orRefused(async () => {
			const { query } = await opa.getFilters(path, input(user, action), {
				target: 'sqlite',
				unknowns,
				tableMappings: { resource: { $self: 'documents', owner: 'owner' } },
			});
			return query === undefined ? [] : world.select(String(query).replace(/^WHERE /, '') || '1 = 1');
		}),
	);
	await compareAll(t, world, refusedBy.plan, (user, action) =>
		orRefused(async () => {
			const answer = await world.data.post<{ result: { query?: never } }>(
				`/v1/compile/${path}`,
				{ input: input(user, action) },
				{ headers: { accept: 'application/vnd.opa.ucast.prisma+json' } },
			);
			if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
			if (answer.body.result.query === undefined) return [];
			const { query } = await opa.getFilters(path, input(user, action), {
				ucastPrisma: { primary: 'resource' },
				unknowns,
			});
			t.deepEqual(
				pick(selectedByUcast(answer.body.result.query, 'unknown', 'resource')),
				pick(selectedByPrisma(query)),
			);
			return pick(selectedByPrisma(query));
		}),
	);
	const targets = ['ucastPrisma', 'postgresql', 'mysql', 'sqlserver', 'sqlite'];
	const several = await opa.getMultipleFilters(path, input('ann', 'own'), { targets, unknowns });
	t.regex(String(several.postgresql.query), /^WHERE .*"resource"\."owner" = 'ann'/);
	t.regex(String(several.sqlserver.query), /\[resource\]\.\[owner\] = N'ann'/);
});

test('the library: SQL, Knex and Prisma select the rows that checks allow', async (t) => {
	const world = await createWorld(t);
	const builder = knex({ client: 'better-sqlite3', useNullAsDefault: true });
	t.teardown(() => builder.destroy());
	const ask = async (user: string, action: string): Promise<RowFilter> => {
		return (await world.served.http.post<RowFilter>('/filter', { user, action, resource: 'document' })).body;
	};
	await compareAll(t, world, refusedBy.sql, (user, action) =>
		orRefused(async () => {
			const filter = await ask(user, action);
			const { sql, parameters } = toSql(filter, 'sqlite', columns);
			const { sql: whole, bindings } = applyFilter(builder('documents').select('key'), filter, columns)
				.toSQL()
				.toNative();
			const condition = whole.replace(/^select `key` from `documents` where /, '');
			t.deepEqual(world.select(condition, bindings), world.select(sql, parameters));
			return world.select(sql, parameters);
		}),
	);
	await compareAll(t, world, refusedBy.plan, (user, action) =>
		orRefused(async () => pick(selectedByPrisma(toPrismaWhere(await ask(user, action), 'sqlite', columns)))),
	);
	const filter = await ask('ann', 'own');
	t.throws(() => toSql(filter, 'sqlite', { tenant: 'tenant', owner: 'owner' }), {
		message: /`own documents`.*owner/,
		code: 'filter_refused',
	});
	t.throws(() => toSql(filter, 'sqlite', { tenant: 'tenant' }), { code: 'invalid_columns' });
	t.throws(() => toSql(filter, 'oracle' as never, columns), { message: /`oracle`/, code: 'invalid_columns' });
});

const plan = { principal: { id: 'ann', roles: [] }, action: 'read', resource: { kind: 'document' } };
const wrongPlans: readonly (readonly [body: unknown, message: RegExp])[] = [
	[{}, /principal/],
	[{ ...plan, action: undefined }, /actions.*must name an action/],
	[{ ...plan, actions: [], action: '' }, /actions/],
	[{ ...plan, principal: { id: 7 } }, /principal\.id|principal/],
	[{ ...plan, actions: Array.from({ length: 51 }, () => 'read') }, /at most 50/],
	[{ ...plan, action: 'matched' }, /`cerbos` cannot express the condition `matched documents`/],
];

test('bad plans are refused in the format of Cerbos', async (t) => {
	const { served } = await createWorld(t);
	for (const [body, message] of wrongPlans) {
		const answer = await served.http.post<{ code: number; message: string }>('/api/plan/resources', body);
		t.is(answer.status, 422, JSON.stringify(body));
		t.is(answer.body.code, 3);
		t.regex(answer.body.message, message);
	}
	for (const [kind, action] of [
		['nothing', 'read'],
		['document', 'nothing'],
	]) {
		const answer = await served.http.post('/api/plan/resources', { ...plan, action, resource: { kind } });
		t.like(answer.body, { filter: { kind: 'KIND_ALWAYS_DENIED' } });
	}
});

const question = { input: { user: 'ann', action: 'own', resource: { type: 'document' } } };
const postgresql = 'application/vnd.opa.sql.postgresql+json';
const ucast = 'application/vnd.opa.ucast.all+json';
const mapped = (mapping: object) => ({
	...question,
	options: { targetSQLTableMappings: { postgresql: { resource: mapping }, all: { resource: mapping } } },
});
const wrongCompiles: readonly (readonly [
	path: string,
	accept: string,
	body: unknown,
	status: number,
	message: RegExp,
])[] = [
	['regolith/check/deny', postgresql, question, 404, /regolith\/check\/deny/],
	['regolith/check/allow', 'application/json', question, 400, /`application\/json`.*sql\+sqlite/],
	['regolith/check/allow', 'application/vnd.opa.sql.constructor+json', question, 400, /constructor/],
	['regolith/check/allow', 'application/vnd.opa.multitarget+json', question, 400, /targetDialects/],
	['regolith/check/allow', postgresql, { ...question, unknowns: ['input.user'] }, 400, /`input\.user`/],
	['regolith/check/allow', postgresql, { ...question, options: { maskRule: 'masks' } }, 400, /maskRule/],
	['regolith/check/allow', postgresql, {}, 422, /input/],
	['regolith/check/allow', postgresql, { input: { ...question.input, resource: 'document:d1' } }, 422, /\/allowed/],
	['regolith/check/allow', postgresql, mapped({ owner: 'a"b' }), 422, /`owner`.*a"b/],
	['regolith/check/allow', postgresql, mapped({ $self: 'a; b' }), 422, /a; b/],
	['regolith/check/allow', postgresql, mapped({ unread: 'a"b' }), 422, /`unread`.*a"b/],
	['regolith/check/allow', ucast, mapped({ owner: 'a"b' }), 422, /`owner`.*a"b/],
	['regolith/check/allow', ucast, mapped({ $self: 'a; b' }), 422, /a; b/],
	['regolith/check/allow', postgresql, { input: { ...question.input, action: 'matched' } }, 422, /matched documents/],
];

test('bad requests of the Compile API are refused in the format of OPA', async (t) => {
	const { data } = await createWorld(t);
	for (const [path, accept, body, status, message] of wrongCompiles) {
		const answer = await data.post<{ code: string; message: string }>(`/v1/compile/${path}`, body, {
			headers: { accept },
		});
		t.is(answer.status, status, JSON.stringify(answer.body));
		t.regex(answer.body.message, message);
	}
});
