import { randomBytes } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** Which database a program stands on: PostgreSQL in the process, or the server that the tests run. */
export type StoreKind = 'embedded' | 'server';

/** A database of one test file. */
export interface TestDatabase {
	/** Its address with user and password. */
	readonly url: string;
	/** Closes every connection to it and removes it. */
	drop(): Promise<void>;
}

/** A copy of what `setup/templates.mjs` prepared; without it, tests make the tables themselves, to the same effect. */
const template = { database: process.env['TEST_TEMPLATE_DATABASE'], folder: process.env['TEST_TEMPLATE_FOLDER'] };

/**
 * Creates a database on the server that `npm test` runs for the tests, or that `TEST_POSTGRES_URL` names: with the
 * tables of the newest version, or with none.
 */
export async function createDatabase(tables: 'newest' | 'none' = 'newest'): Promise<TestDatabase> {
	const name = `test_${randomBytes(8).toString('hex')}`;
	const from = tables === 'newest' && template.database ? ` template ${template.database}` : '';
	await administer(`create database ${name}${from}`);
	const url = new URL(serverUrl());
	url.pathname = `/${name}`;
	return { url: url.href, drop: () => administer(`drop database if exists ${name} with (force)`) };
}

/**
 * Gives a program a database with the tables of the newest version: on the server, or in `folder`, its data directory.
 * The `url` is empty when it is in the folder, and goes with that.
 */
export async function provideDatabase(kind: StoreKind, folder: string): Promise<TestDatabase> {
	if (kind === 'server') return createDatabase();
	if (template.folder) cpSync(join(template.folder, 'postgres'), join(folder, 'postgres'), { recursive: true });
	return { url: '', drop: async () => {} };
}

async function administer(statement: string): Promise<void> {
	const connection = new pg.Client({ connectionString: serverUrl() });
	await connection.connect();
	try {
		await connection.query(statement);
	} finally {
		await connection.end();
	}
}

function serverUrl(): string {
	const url = process.env['TEST_POSTGRES_URL'];
	if (!url) throw new Error('no PostgreSQL to test with: run `npm test -- <file>`, or set TEST_POSTGRES_URL');
	return url;
}
