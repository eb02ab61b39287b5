/** The examples of the guide: pages of documents in SQLite and in PostgreSQL, and through Prisma, sorted. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import pg from 'pg';
import type { Model } from '../../compiler/model.js';
import type { RowFilter } from '../../packages/engine/src/api.js';
import { serving } from '../pdp/cases.js';
import { acme, resource } from '../pdp/environment.js';
import { createDatabase } from '../support/postgres.js';
import { root } from '../support/root.js';
import { selectedByPrisma } from './interpreters.js';
import { openSqlite } from './sqlite.js';

const named = (name: string) => ({ key: name, name, description: null });
const set = {
	...named('everyone'),
	type: 'userset',
	resource: null,
	parent: null,
	selects: { conditions: {} },
} as const;
const conditions = {
	anyOf: [{ 'resource.owner': { equals: { ref: 'user.key' } } }, { 'resource.level': { 'less-than': 3 } }],
};

/** Ann reads her own documents and those of a low level, in every tenant. */
const model: Model = {
	schema: {
		...acme.schema,
		resources: [resource('document', ['read'])],
		roles: [],
		condition_sets: [
			set,
			{ ...named('open'), type: 'resourceset', resource: 'document', parent: null, selects: { conditions } },
		],
		set_rules: [{ user_set: 'everyone', resource_set: 'open', resource: 'document', action: 'read' }],
	},
	facts: { ...acme.facts, users: ['ann'], role_assignments: [], user_attributes: [], instances: [] },
};

const documents = Array.from({ length: 400 }, (_, index) => ({
	id: `d${index}`,
	tenant_id: ['acme', 'default', 'unknown'][index % 3] ?? '',
	owner_id: ['ann', 'Ann', 'ben', null][index % 4] ?? null,
	level: index % 7,
	archived: index % 5 === 0,
	created_at: `2030-01-01T00:00:00.${String((index * 7) % 400).padStart(3, '0')}Z`,
}));

type Document = (typeof documents)[number];

/** Returns the keys of a page, from the checks of all documents. */
async function rightPage(isAllowed: (document: Document) => boolean, page: number): Promise<readonly string[]> {
	const sorted = documents.filter((one) => !one.archived && isAllowed(one));
	sorted.sort((one, other) => (one.created_at < other.created_at ? 1 : -1));
	return sorted.slice(50 * page, 50 * page + 50).map(({ id }) => id);
}

/** Loads the examples of the guide, with the library's source. */
async function loadExamples(): Promise<readonly Record<string, (...given: never[]) => never>[]> {
	const guide = await readFile(join(root, 'docs/develop/filters.md'), 'utf8');
	const library = pathToFileURL(join(root, 'dist/packages/engine/src/filter.js')).href;
	const blocks = [...guide.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = '']) => code);
	return Promise.all(
		blocks.map(
			(code) => import(`data:text/javascript,${encodeURIComponent(code.replace('@regolith/engine', library))}`),
		),
	);
}

const tables =
	'create table documents (id text, tenant_id text, owner_id text, level integer, archived boolean, created_at text)';

test('the examples in the guide select the pages that checks allow', async (t) => {
	const { http } = await serving(t, model);
	const readFilter = async (body: unknown) => (await http.post<RowFilter>('/filter', body)).body;
	const checks = documents.map(({ id, tenant_id: tenant, owner_id: owner, level }) => {
		return {
			user: 'ann',
			action: 'read',
			resource: { type: 'document', key: id, tenant, attributes: { owner, level } },
		};
	});
	const { body } = await http.post<{ allow: { allow: boolean }[] }>('/allowed/bulk', checks);
	const isAllowed = (document: Document) => body.allow[documents.indexOf(document)]?.allow === true;
	const [sqlExample, prismaExample] = await loadExamples();
	const pageOfDocuments = sqlExample?.['pageOfDocuments'] as unknown as (
		...given: unknown[]
	) => Promise<readonly unknown[]>;

	const sqlite = await openSqlite();
	sqlite.run(tables);
	const database = await createDatabase('none');
	const postgresql = new pg.Client({ connectionString: database.url });
	await postgresql.connect();
	t.teardown(async () => {
		await postgresql.end();
		await database.drop();
	});
	await postgresql.query(tables);
	for (const row of documents) {
		const values = Object.values(row);
		sqlite.run(
			'insert into documents values (?, ?, ?, ?, ?, ?)',
			values.map((one) => (typeof one === 'boolean' ? Number(one) : one)),
		);
		await postgresql.query('insert into documents values ($1, $2, $3, $4, $5, $6)', values);
	}
	const inPostgresql = async (text: string, values: unknown[]) =>
		(await postgresql.query({ text, values, rowMode: 'array' })).rows.flat();
	for (const page of [0, 1, 2, 9]) {
		const right = await rightPage(isAllowed, page);
		t.is(right.length > 0, page < 3);
		t.deepEqual(await pageOfDocuments(readFilter, sqlite.column, 'sqlite', page), right);
		t.deepEqual(await pageOfDocuments(readFilter, inPostgresql, 'postgresql', page), right);
	}

	const prismaPage = prismaExample?.['prismaPage'] as unknown as (filter: RowFilter, page: number) => { where: object };
	const filter = await readFilter({ user: 'ann', action: 'read', resource: 'document' });
	const selected = selectedByPrisma(prismaPage(filter, 0).where);
	for (const document of documents) {
		const { id, tenant_id: tenantId, owner_id: ownerId, level, archived } = document;
		const isSelected = selected({ key: id, tenant: tenantId, attributes: { id, tenantId, ownerId, level, archived } });
		t.is(isSelected, isAllowed(document) && !archived, id);
	}
});
