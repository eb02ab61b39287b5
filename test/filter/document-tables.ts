/** A table of documents in PostgreSQL, SQLite and, with `npm run test:all`, MariaDB. */

import pg from 'pg';
import type { SqlDialectName } from '../../src/filter/sql/to-sql.js';
import { onAllStores } from '../support/each-store.js';
import { createDatabase } from '../support/postgres.js';
import { startMariadb } from './mariadb.js';
import type { StoredRow } from './rows.js';
import { openSqlite } from './sqlite.js';

/** Columns, keyed by attribute. Some names are keywords, so an unquoted name fails. */
export const documentColumns = {
	key: 'key',
	tenant: 'documents.tenant',
	name: 'select',
	note: { column: 'note', type: 'string' },
	size: 'order',
	rate: 'rate',
	active: 'active',
	at: 'at',
} as const;

const members = ['key', 'tenant', 'name', 'note', 'size', 'rate', 'active', 'at'] as const;

/** A table with a case-insensitive collation for strings, if the database has one. */
export interface DocumentsTable {
	readonly dialect: SqlDialectName;
	/** Replaces the rows. */
	fill(rows: readonly StoredRow[]): Promise<void>;
	/** Returns the indexes of the selected rows. */
	select(condition: string, parameters?: readonly unknown[]): Promise<ReadonlySet<unknown>>;
	close(): Promise<void>;
}

/** Path of MariaDB. If it is not set, `npm run test:all` skips the MariaDB tests. */
const mariadb = onAllStores ? process.env['MARIADB_PATH'] : undefined;
export const lacksMariadb = onAllStores && mariadb === undefined;

/** Dialects of the tables. */
export const tableDialects = ['postgresql', 'sqlite', ...(mariadb === undefined ? [] : (['mysql'] as const))] as const;

/** Creates an empty table. */
export function openTable(dialect: (typeof tableDialects)[number]): Promise<DocumentsTable> {
	return { postgresql: openInPostgresql, sqlite: openInSqlite, mysql: openInMariadb }[dialect]();
}

async function openInPostgresql(): Promise<DocumentsTable> {
	const database = await createDatabase('none');
	const client = new pg.Client({ connectionString: database.url });
	await client.connect();
	await client.query(
		"create collation ignoring (provider = icu, locale = 'und-u-ks-level1', deterministic = false); " +
			'create table documents (place integer, key text, tenant varchar(100), "select" text, note text collate ignoring, ' +
			'"order" bigint, rate double precision, active boolean, at timestamptz)',
	);
	return tableIn('postgresql', {
		run: async (text, values = []) => (await client.query({ text, values: [...values], rowMode: 'array' })).rows.flat(),
		placeholder: (number) => `$${number}`,
		close: async () => {
			await client.end();
			await database.drop();
		},
	});
}

async function openInSqlite(): Promise<DocumentsTable> {
	const sqlite = await openSqlite();
	sqlite.run(
		'create table documents (place integer, key text, tenant text, `select` text, note text collate nocase, ' +
			'`order` integer, rate real, active integer, at text)',
	);
	return tableIn('sqlite', {
		run: async (statement, parameters) => sqlite.column(statement, parameters),
		placeholder: () => '?',
		stored: ({ at, active, ...row }) => {
			return { ...row, at: at && `${at.slice(0, 23)}Z`, active: active === null ? null : Number(active) };
		},
		close: async () => {},
	});
}

async function openInMariadb(): Promise<DocumentsTable> {
	const { run, stop } = await startMariadb(mariadb ?? 'mariadbd');
	await run(
		'create table documents (place integer, `key` text, tenant varchar(100), `select` text, ' +
			'note text collate utf8mb4_general_ci, `order` bigint, `rate` double, active boolean, at text)',
	);
	return tableIn('mysql', { run, placeholder: () => '?', close: stop });
}

interface Connection {
	/** Returns the first column of all rows. */
	run(statement: string, parameters?: readonly unknown[]): Promise<readonly unknown[]>;
	/** Returns the placeholder with this number, from 1. */
	placeholder(number: number): string;
	/** Converts values for which the database has no type. */
	stored?(row: StoredRow): Readonly<Record<(typeof members)[number], unknown>>;
	close(): Promise<void>;
}

function tableIn(dialect: SqlDialectName, { run, placeholder, stored, close }: Connection): DocumentsTable {
	return {
		dialect,
		fill: async (rows) => {
			await run('delete from documents');
			const values = rows.flatMap((row, place) => {
				const converted = stored?.(row) ?? row;
				return [place, ...members.map((member) => converted[member])];
			});
			const size = members.length + 1;
			const places = rows.map((_, row) => {
				return `(${Array.from({ length: size }, (__, index) => placeholder(row * size + index + 1)).join(', ')})`;
			});
			await run(`insert into documents values ${places.join(', ')}`, values);
		},
		select: async (condition, parameters) =>
			new Set(await run(`select place from documents where ${condition}`, parameters)),
		close,
	};
}
