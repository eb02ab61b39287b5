// @both

/**
 * Every target selects the rows on which the residual holds: SQL in PostgreSQL, SQLite and, with `npm run test:all`,
 * MariaDB, UCAST, Cerbos plans and Prisma conditions.
 */

import test from 'ava';
import fc from 'fast-check';
import pg from 'pg';
import { runToEnd } from '../../compiler/steps.js';
import { compileResidual } from '../../src/filter/evaluate-residual.js';
import { FilterRefusal, type Residual, type Row } from '../../src/filter/residual.js';
import { type SqlDialectName, toSql, toSqlLiterals } from '../../src/filter/sql/to-sql.js';
import { toCerbosPlan } from '../../src/filter/to-cerbos-plan.js';
import { toUcast, type UcastVariant, ucastVariants } from '../../src/filter/to-ucast.js';
import { patternMatches } from '../support/conditions.js';
import { onAllStores } from '../support/each-store.js';
import { createDatabase } from '../support/postgres.js';
import { draws, leastDrawn } from '../support/tier.js';
import { selectedByCerbos, selectedByPrisma, selectedByUcast } from './interpreters.js';
import { startMariadb } from './mariadb.js';
import { anyResidual, anyRows, asRow, type StoredRow } from './rows.js';
import { openSqlite, requireTool } from './sqlite.js';

const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const [rows = []] = fc.sample(anyRows(150), { numRuns: 1, seed });
const members = ['key', 'tenant', 'name', 'note', 'size', 'rate', 'active', 'at'] as const;
/** Keywords as names, so an unquoted name fails. */
const columns = {
	key: 'key',
	tenant: 'documents.tenant',
	name: 'select',
	note: { column: 'note', type: 'string' },
	size: 'order',
	rate: 'rate',
	active: 'active',
	at: 'at',
};

type Select = (condition: string, parameters?: readonly unknown[]) => Promise<readonly unknown[]>;

const databases: Partial<Record<SqlDialectName, Select>> = {};

test.before('each database gets a table with the rows', async () => {
	const database = await createDatabase('none');
	const client = new pg.Client({ connectionString: database.url });
	await client.connect();
	await client.query(
		"create collation ignoring (provider = icu, locale = 'und-u-ks-level1', deterministic = false); " +
			'create table documents (key text, tenant varchar(100), "select" text, note text collate ignoring, "order" bigint, ' +
			'rate double precision, active boolean, at timestamptz)',
	);
	const places = members.map((_, index) => `$${index + 1}`).join(', ');
	for (const row of rows) await client.query(`insert into documents values (${places})`, valuesOf(row));
	databases.postgresql = async (condition, parameters = []) => {
		const found = await client.query({
			text: `select key from documents where ${condition}`,
			values: [...parameters],
			rowMode: 'array',
		});
		return found.rows.flat();
	};
	closers.push(() => client.end(), database.drop);
	if (onAllStores) {
		const mariadb = await startMariadb(process.env['MARIADB_PATH'] ?? 'mariadbd');
		closers.push(mariadb.stop);
		await mariadb.run(
			'create table documents (`key` text, tenant varchar(100), `select` text, note text collate utf8mb4_general_ci, ' +
				'`order` bigint, `rate` double, active boolean, at text)',
		);
		for (const row of rows) await mariadb.run('insert into documents values (?, ?, ?, ?, ?, ?, ?, ?)', valuesOf(row));
		databases.mysql = (condition, parameters) =>
			mariadb.run(`select \`key\` from documents where ${condition}`, parameters);
	}
	const sqlite = await openSqlite();
	sqlite.run(
		'create table documents (key text, tenant text, `select` text, note text collate nocase, `order` integer, rate real, ' +
			'active integer, at text)',
	);
	for (const row of rows) {
		const { at, active } = row;
		const values = { ...row, at: at && `${at.slice(0, 23)}Z`, active: active === null ? null : Number(active) };
		sqlite.run('insert into documents values (?, ?, ?, ?, ?, ?, ?, ?)', valuesOf(values));
	}
	databases.sqlite = async (condition, parameters = []) =>
		sqlite.column(`select key from documents where ${condition}`, parameters);
});

const closers: (() => Promise<unknown>)[] = [];
test.after.always('close the databases', async () => {
	for (const close of closers) await close();
});

function valuesOf(row: Readonly<Record<(typeof members)[number], unknown>>): unknown[] {
	return members.map((member) => row[member]);
}

/** Returns the keys of the rows that satisfy the residual, in their order. */
function rightKeys(residual: Residual, from: readonly StoredRow[]): readonly string[] {
	const holds = runToEnd(compileResidual(residual, patternMatches));
	return from.filter((row) => holds(asRow(row))).map(({ key }) => key);
}

/** Returns the result; `undefined` if the target refuses the filter. */
function unlessRefused<T>(write: () => T): T | undefined {
	try {
		return write();
	} catch (error) {
		if (error instanceof FilterRefusal) return undefined;
		throw error;
	}
}

for (const dialect of ['postgresql', 'sqlite', ...(onAllStores ? (['mysql'] as const) : [])] as const) {
	test(`SQL for ${dialect} selects the rows of the residual`, async (t) => {
		const counts = { some: 0, refused: 0, all: 0 };
		await fc.assert(
			fc.asyncProperty(anyResidual, fc.boolean(), async (residual, hasLiterals) => {
				const select = databases[dialect];
				if (select === undefined) throw new Error('no database');
				const written = unlessRefused(() =>
					hasLiterals
						? { sql: runToEnd(toSqlLiterals(residual, dialect, columns)), parameters: [] }
						: toSql(residual, dialect, columns),
				);
				counts.all += 1;
				if (written === undefined) {
					counts.refused += 1;
					return;
				}
				const found = new Set(await select(written.sql, written.parameters));
				const right = rightKeys(residual, rows);
				if (right.length > 0 && right.length < rows.length) counts.some += 1;
				const got = rows.map(({ key }) => key).filter((key) => found.has(key));
				t.deepEqual(
					got,
					right,
					`${JSON.stringify(residual)} as ${written.sql} with ${JSON.stringify(written.parameters)}`,
				);
			}),
			{ numRuns: draws(6_000), seed },
		);
		t.true(counts.some > leastDrawn(1_500), `filters that select a part: ${JSON.stringify(counts)}`);
		t.true(counts.refused < counts.all / 2, `refusals: ${JSON.stringify(counts)}`);
	});
}

/** Rows within the bounds of targets without tests for bounds. */
const boundedRows = rows.filter(
	({ size, rate, name }) =>
		Number.isSafeInteger(Number(size)) &&
		Math.abs(rate ?? 0) <= Number.MAX_SAFE_INTEGER &&
		(name ?? '').length <= 20_000,
);

test('UCAST, Cerbos plans and Prisma conditions select the same rows as the residual', (t) => {
	const { ucastToPrisma } = requireTool('@open-policy-agent/ucast-prisma');
	const counts: Record<string, number> = {};
	fc.assert(
		fc.property(anyResidual, (residual) => {
			const right = rightKeys(residual, boundedRows);
			const expectRight = (target: string, select: (row: Row) => boolean) => {
				counts[target] = (counts[target] ?? 0) + 1;
				const got = boundedRows.filter((row) => select(asRow(row))).map(({ key }) => key);
				t.deepEqual(got, right, `${target}: ${JSON.stringify(residual)}`);
			};
			for (const variant of Object.keys(ucastVariants) as UcastVariant[]) {
				const node = unlessRefused(() => ({
					query: runToEnd(toUcast(residual, variant, (name) => `documents.${name}`)),
				}));
				if (node === undefined) continue;
				expectRight(variant, selectedByUcast(node.query, 'unknown'));
				if (variant !== 'prisma') expectRight(`${variant} with null as a value`, selectedByUcast(node.query, 'plain'));
				else if (node.query !== undefined) {
					const where = 'type' in node.query ? ucastToPrisma(node.query, 'documents') : {};
					expectRight('ucast-prisma', selectedByPrisma(where));
				}
			}
			const plan = unlessRefused(() => runToEnd(toCerbosPlan(residual)));
			if (plan === undefined) return;
			expectRight('cerbos', selectedByCerbos(plan, 'unknown'));
			expectRight('cerbos with null as a value', selectedByCerbos(plan, 'plain'));
		}),
		{ numRuns: draws(3_000), seed },
	);
	t.true(
		Object.values(counts).every((count) => count > leastDrawn(700)),
		JSON.stringify(counts),
	);
	t.is(Object.keys(counts).length, 10);
});
