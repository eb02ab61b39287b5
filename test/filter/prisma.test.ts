// @rest

/** Filters through the published clients for Prisma, on SQLite. */

import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import type { RowFilter } from '../../packages/engine/src/api.js';
import { toPrismaWhere } from '../../packages/engine/src/filter.js';
import { serving } from '../pdp/cases.js';
import { key } from '../pdp/served.js';
import { root } from '../support/root.js';
import { columns, compareAll, createWorld, names, orRefused, refusedBy, rows } from './documents-world.js';
import { checkDocuments, documents, loadExamples, model, rightPage } from './guide-world.js';
import { importTool, requireTool } from './sqlite.js';

const run = promisify(execFile);

/** Opens an empty database through a client that is generated for this test. */
async function openPrisma(t: ExecutionContext) {
	const tools = process.env['FILTER_TOOLS'] ?? '';
	// The command needs the packages in a folder above the schema.
	const folder = await mkdtemp(join(tools, 'prisma-'));
	t.teardown(() => rm(folder, { recursive: true }));
	const schema = join(folder, 'schema.prisma');
	await copyFile(join(root, 'test/filter/clients/schema.prisma'), schema);
	const program = join(tools, 'node_modules/prisma/build/index.js');
	// The command downloads two engines unless their paths are set. It does not run them.
	const engines = { PRISMA_QUERY_ENGINE_LIBRARY: program, PRISMA_SCHEMA_ENGINE_BINARY: program };
	await run(process.execPath, [program, 'generate', '--schema', schema, '--no-hints'], {
		cwd: tools,
		env: { ...process.env, ...engines, CHECKPOINT_DISABLE: '1' },
	});
	const { PrismaClient } = createRequire(join(folder, 'client/package.json'))('./index.js');
	const { PrismaLibSQL } = requireTool('@prisma/adapter-libsql');
	const prisma = new PrismaClient({ adapter: new PrismaLibSQL({ url: `file:${join(folder, 'documents.db')}` }) });
	t.teardown(() => prisma.$disconnect());
	return prisma;
}

/** Creates and fills the table. Returns a function that finds the row keys for a condition. */
async function fillDocuments(t: ExecutionContext): Promise<(where: object) => Promise<readonly string[]>> {
	const prisma = await openPrisma(t);
	await prisma.$executeRawUnsafe(
		'create table documents (key text primary key, tenant text, owner text, level integer, status text, at text, name text)',
	);
	const data = rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
	await prisma.document.createMany({ data });
	return async (where) => {
		const found = await prisma.document.findMany({ where, select: { key: true }, orderBy: { key: 'asc' } });
		return found.map((row: { key: string }) => row.key);
	};
}

test('the published clients for Prisma select the rows that checks allow', async (t) => {
	const world = await createWorld(t);
	const select = await fillDocuments(t);

	const { HTTP } = await importTool('@cerbos/http');
	const { queryPlanToPrisma, PlanKind } = requireTool('@cerbos/orm-prisma');
	const cerbos = new HTTP(world.served.url, { headers: { authorization: `Bearer ${key}` } });
	const mapper = Object.fromEntries(
		names.map((name) => [name === 'key' ? 'request.resource.id' : `request.resource.attr.${name}`, { field: name }]),
	);
	await compareAll(t, world, refusedBy.plan, (user, action) =>
		orRefused(async () => {
			const principal = { id: user, roles: ['user'] };
			const queryPlan = await cerbos.planResources({ principal, action, resource: { kind: 'document' } });
			const { kind, filters } = queryPlanToPrisma({ queryPlan, mapper });
			return kind === PlanKind.ALWAYS_DENIED ? [] : select(filters ?? {});
		}),
	);

	const { OPAClient } = requireTool('@open-policy-agent/opa');
	const opa = new OPAClient(world.dataUrl, { headers: { Authorization: `Bearer ${key}` } });
	await compareAll(t, world, refusedBy.plan, (user, action) =>
		orRefused(async () => {
			const input = { user, action, resource: { type: 'document' } };
			const unknowns = ['input.resource'];
			// The client fails with a TypeError if no row passes.
			const { status, body } = await world.data.post<{ result: { query?: unknown } }>(
				'/v1/compile/regolith/check/allow',
				{ input, unknowns },
				{ headers: { accept: 'application/vnd.opa.ucast.prisma+json' } },
			);
			if (status === 200 && body.result.query === undefined) return [];
			const options = { ucastPrisma: { primary: 'resource' }, unknowns };
			return select((await opa.getFilters('regolith/check/allow', input, options)).query);
		}),
	);

	const fields = { ...columns, level: { column: 'level', type: 'integer' }, at: { column: 'at', type: 'string' } };
	await compareAll(t, world, refusedBy.plan, (user, action) =>
		orRefused(async () => {
			const { body } = await world.served.http.post<RowFilter>('/filter', { user, action, resource: 'document' });
			return select(toPrismaWhere(body, 'sqlite', fields));
		}),
	);
});

test('the Prisma example in the guide selects the pages that checks allow', async (t) => {
	const { http } = await serving(t, model);
	const isAllowed = await checkDocuments(http);
	const [, example] = await loadExamples((code) => code.replace("'postgresql'", "'sqlite'"));
	const prismaPage = example?.['prismaPage'] as unknown as (filter: RowFilter, page: number) => object;
	const { body: filter } = await http.post<RowFilter>('/filter', { user: 'ann', action: 'read', resource: 'document' });
	const prisma = await openPrisma(t);
	await prisma.$executeRawUnsafe(
		'create table guide_documents (id text primary key, tenant_id text, owner_id text, level integer, archived boolean, ' +
			'created_at datetime)',
	);
	await prisma.guideDocument.createMany({
		data: documents.map(({ id, tenant_id: tenantId, owner_id: ownerId, level, archived, created_at: createdAt }) => {
			return { id, tenantId, ownerId, level, archived, createdAt };
		}),
	});
	for (const page of [0, 1, 2, 9]) {
		const found: readonly { id: string }[] = await prisma.guideDocument.findMany(prismaPage(filter, page));
		t.deepEqual(
			found.map(({ id }) => id),
			rightPage(isAllowed, page),
		);
	}
});
