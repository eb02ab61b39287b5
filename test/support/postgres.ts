import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A database of one test file. */
export interface TestDatabase {
	/** Its address with user and password. */
	readonly url: string;
	/** Closes every connection to it and removes it. */
	drop(): Promise<void>;
}

/** Creates an empty database on the server that `npm test` runs for the tests, or that `TEST_POSTGRES_URL` names. */
export async function createDatabase(): Promise<TestDatabase> {
	const name = `test_${randomBytes(8).toString('hex')}`;
	await administer(`create database ${name}`);
	const url = new URL(serverUrl());
	url.pathname = `/${name}`;
	return { url: url.href, drop: () => administer(`drop database if exists ${name} with (force)`) };
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
