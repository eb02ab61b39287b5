/**
 * Filters in the formats of other products, through their published clients. In every format, the rows of the filter
 * are the rows that checks allow.
 */

import test from 'ava';
import knex from 'knex';
import type { RowFilter } from '../../packages/engine/src/api.js';
import { applyFilter, toPrismaWhere, toSql } from '../../packages/engine/src/filter.js';
import { key } from '../pdp/served.js';
import { columns, compareAll, createWorld, orRefused, pick, refusedBy } from './documents-world.js';
import { selectedByCerbos, selectedByPrisma, selectedByUcast } from './interpreters.js';
import { importTool, requireTool } from './sqlite.js';

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

test('@open-policy-agent/opa: filters in SQL and for Prisma select the rows that checks allow', async (t) => {
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

test('invalid plan requests are rejected in the Cerbos format', async (t) => {
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
const prisma = 'application/vnd.opa.ucast.prisma+json';
const mapped = (mapping: object) => ({
	...question,
	options: {
		targetSQLTableMappings: {
			postgresql: { resource: mapping },
			all: { resource: mapping },
			prisma: { resource: mapping },
		},
	},
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
	['regolith/check/allow', postgresql, mapped({ status: 'a"b' }), 422, /`status`.*a"b/],
	['regolith/check/allow', postgresql, mapped({ level: 'l', ownr: 'o' }), 422, /`ownr`: no condition on `document`/],
	['regolith/check/allow', ucast, mapped({ constructor: 'c' }), 422, /`constructor`: no condition on `document`/],
	['regolith/check/allow', ucast, mapped({ owner: 'a"b' }), 422, /`owner`.*a"b/],
	['regolith/check/allow', ucast, mapped({ $self: 'a; b' }), 422, /a; b/],
	['regolith/check/allow', prisma, mapped({ owner: 'NOT' }), 422, /`owner`: must not be an operator of Prisma/],
	['regolith/check/allow', postgresql, { input: { ...question.input, action: 'matched' } }, 422, /matched documents/],
];

test('invalid Compile API requests are rejected in the OPA format', async (t) => {
	const { data } = await createWorld(t);
	for (const [path, accept, body, status, message] of wrongCompiles) {
		const answer = await data.post<{ code: string; message: string }>(`/v1/compile/${path}`, body, {
			headers: { accept },
		});
		t.is(answer.status, status, JSON.stringify(answer.body));
		t.regex(answer.body.message, message);
	}
});
