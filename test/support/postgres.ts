import { randomBytes } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** A program's database: PostgreSQL in the process, or the test server. */
export type StoreKind = 'embedded' | 'server';

/** A database for a test file. */
export interface TestDatabase {
	/** URL with user and password. */
	readonly url: string;
	/** Closes every connection and removes the database. */
	drop(): Promise<void>;
}

/**
 * Templates prepared by `setup/templates.mjs`. Without templates, tests create the tables themselves, with the same
 * effect.
 */
const template = { database: process.env['TEST_TEMPLATE_DATABASE'], folder: process.env['TEST_TEMPLATE_FOLDER'] };

/**
 * Creates a database with the newest tables, or without tables. `npm test` starts the server, unless
 * `TEST_POSTGRES_URL` names one.
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
 * Provides a database with the newest tables, either on the server or in the data directory `folder`. A database in the
 * folder has an empty `url`, and is removed together with the folder.
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
