/** The examples of the filter guide: sorted pages of documents in SQLite and PostgreSQL, and conditions for Prisma. */

import test from 'ava';
import pg from 'pg';
import type { RowFilter } from '../../packages/engine/src/api.js';
import { serving } from '../pdp/cases.js';
import { createDatabase } from '../support/postgres.js';
import { checkDocuments, documents, loadExamples, model, rightPage } from './guide-world.js';
import { selectedByPrisma } from './interpreters.js';
import { openSqlite } from './sqlite.js';

const tables =
	'create table documents (id text, tenant_id text, owner_id text, level integer, archived boolean, created_at text)';

test('the examples in the guide select the pages that checks allow', async (t) => {
	const { http } = await serving(t, model);
	const readFilter = async (body: unknown) => (await http.post<RowFilter>('/filter', body)).body;
	const isAllowed = await checkDocuments(http);
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
		const right = rightPage(isAllowed, page);
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
