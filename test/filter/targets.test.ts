// @both

/**
 * Every target selects the rows on which the residual holds: SQL (in PostgreSQL, SQLite and, with `npm run test:all`,
 * MariaDB), UCAST, Cerbos plans, and conditions for Prisma and Permit.
 */

import test from 'ava';
import fc from 'fast-check';
import { runToEnd } from '../../compiler/steps.js';
import { compileResidual } from '../../src/filter/evaluate-residual.js';
import { FilterRefusal, type Residual, type Row } from '../../src/filter/residual.js';
import { simplifyResidual } from '../../src/filter/simplify-residual.js';
import { toSql, toSqlLiterals } from '../../src/filter/sql/to-sql.js';
import { toCerbosPlan } from '../../src/filter/to-cerbos-plan.js';
import { toUcast, type UcastVariant, ucastVariants } from '../../src/filter/to-ucast.js';
import { writePermitFilter } from '../../src/filter/write-permit-filter.js';
import { patternMatches } from '../support/conditions.js';
import { draws, leastDrawn } from '../support/tier.js';
import { type DocumentsTable, documentColumns, lacksMariadb, openTable, tableDialects } from './document-tables.js';
import { selectedByCerbos, selectedByPermit, selectedByPrisma, selectedByUcast } from './interpreters.js';
import { anyResidual, anyRows, asRow, type StoredRow } from './rows.js';
import { openSqlite, requireTool } from './sqlite.js';

const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const [rows = []] = fc.sample(anyRows(150), { numRuns: 1, seed });
const tables: DocumentsTable[] = [];

test.before('each database gets a table with the rows', async () => {
	for (const dialect of tableDialects) {
		const table = await openTable(dialect);
		tables.push(table);
		await table.fill(rows);
	}
});

test.after.always('close the databases', async () => {
	for (const { close } of tables) await close();
});

/** Returns the row keys that satisfy the residual, in row order. */
function rightKeys(residual: Residual, from: readonly StoredRow[]): readonly string[] {
	const holds = runToEnd(compileResidual(residual, patternMatches));
	return from.filter((row) => holds(asRow(row))).map(({ key }) => key);
}

/** Returns the result; `undefined` if the target rejects the filter. */
function unlessRejected<T>(write: () => T): T | undefined {
	try {
		return write();
	} catch (error) {
		if (error instanceof FilterRefusal) return undefined;
		throw error;
	}
}

for (const dialect of tableDialects) {
	test(`SQL for ${dialect} selects the rows of the residual`, async (t) => {
		const counts = { some: 0, rejected: 0, all: 0 };
		await fc.assert(
			fc.asyncProperty(anyResidual, fc.boolean(), async (residual, hasLiterals) => {
				const table = tables.find((one) => one.dialect === dialect) ?? t.fail(`no table in ${dialect}`);
				const written = unlessRejected(() =>
					hasLiterals
						? { sql: runToEnd(toSqlLiterals(residual, dialect, documentColumns)), parameters: [] }
						: toSql(residual, dialect, documentColumns),
				);
				counts.all += 1;
				if (written === undefined) {
					counts.rejected += 1;
					return;
				}
				const found = await table.select(written.sql, written.parameters);
				const right = rightKeys(residual, rows);
				if (right.length > 0 && right.length < rows.length) counts.some += 1;
				const got = rows.map(({ key }) => key).filter((_, place) => found.has(place));
				t.deepEqual(
					got,
					right,
					`${JSON.stringify(residual)} as ${written.sql} with ${JSON.stringify(written.parameters)}`,
				);
			}),
			{ numRuns: draws(6_000), seed },
		);
		t.true(counts.some > leastDrawn(1_500), `filters that select only some rows: ${JSON.stringify(counts)}`);
		t.true(counts.rejected < counts.all / 2, `rejections: ${JSON.stringify(counts)}`);
	});
}

if (lacksMariadb) {
	test.skip('SQL for mysql (MariaDB is missing: install it, or name it in MARIADB_PATH)', (t) => t.fail());
}

/** Rows within the bounds of targets without tests for bounds. */
const boundedRows = rows.filter(
	({ size, rate, name }) =>
		Number.isSafeInteger(Number(size)) &&
		Math.abs(rate ?? 0) <= Number.MAX_SAFE_INTEGER &&
		(name ?? '').length <= 20_000,
);

test('UCAST, Cerbos plans, and conditions for Prisma and Permit select the same rows as the residual', (t) => {
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
				const node = unlessRejected(() => ({
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
			const permit = unlessRejected(() => runToEnd(writePermitFilter(residual)));
			if (permit !== undefined) expectRight('permit', selectedByPermit(permit));
			const plan = unlessRejected(() => runToEnd(toCerbosPlan(residual)));
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
	t.is(Object.keys(counts).length, 11);
});

test('a numeric key column in SQLite equals a string only in its canonical form', async (t) => {
	const sqlite = await openSqlite();
	sqlite.run('create table documents (id integer primary key)');
	for (const id of [1, 2, 10]) sqlite.run('insert into documents values (?)', [id]);
	for (const [value, right] of [
		[['1', '02'], [1]],
		[['01', '1.0', ' 2', '1e1'], []],
		[['01'], []],
		[['10'], [10]],
	] as const) {
		const residual: Residual = {
			kind: 'comparison',
			column: { kind: 'key' },
			operator: 'in',
			operand: { value },
			name: 'roles',
		};
		for (const [one, expected] of [
			[residual, right],
			[{ kind: 'not', part: residual } as const, [1, 2, 10].filter((id) => !right.some((other) => other === id))],
		] as const) {
			const simple = runToEnd(simplifyResidual(one));
			const { sql, parameters } = toSql(simple, 'sqlite', { key: 'id' });
			t.deepEqual(sqlite.column(`select id from documents where ${sql} order by id`, parameters), expected, sql);
			const literal = runToEnd(toSqlLiterals(simple, 'sqlite', { key: 'id' }));
			t.deepEqual(sqlite.column(`select id from documents where ${literal} order by id`), expected, literal);
		}
	}
});
