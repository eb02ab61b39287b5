import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Prepares templates, so tests need not start from an empty database: a server database and an embedded data
 * directory, each with the newest tables. Copying a template takes a fraction of the time to create the tables.
 * @param {string} root the package's folder, compiled
 * @param {string} url URL of the PostgreSQL server
 * @returns {Promise<{variables: Record<string, string>, remove: () => Promise<void>}>} environment `variables` that
 *   contain the template locations for tests
 */
export async function prepareTemplates(root, url) {
	const { openDatabase } = await import(pathToFileURL(join(root, 'dist/src/store/database/database.js')).href);
	const name = `template_${randomBytes(8).toString('hex')}`;
	const folder = mkdtempSync(join(tmpdir(), 'regolith-template-'));
	const remove = async () => {
		rmSync(folder, { recursive: true, force: true });
		await administer(root, url, `drop database if exists ${name} with (force)`);
	};
	try {
		await administer(root, url, `create database ${name}`);
		const own = new URL(url);
		own.pathname = `/${name}`;
		const places = [
			{ url: own.href, directory: folder },
			{ url: null, directory: folder },
		];
		await Promise.all(places.map(async (place) => (await openDatabase(place)).close()));
	} catch (error) {
		await remove();
		throw error;
	}
	return { variables: { TEST_TEMPLATE_DATABASE: name, TEST_TEMPLATE_FOLDER: folder }, remove };
}

async function administer(root, url, statement) {
	const pg = createRequire(join(root, 'package.json'))('pg');
	const connection = new pg.Client({ connectionString: url });
	await connection.connect();
	try {
		await connection.query(statement);
	} finally {
		await connection.end();
	}
}
