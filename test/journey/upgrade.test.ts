// @rest

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import knex from 'knex';
import pg from 'pg';
import { startApi } from '../../src/compose/api.js';
import { startDecisionPoint } from '../../src/compose/decision-point.js';
import { ConfigError, readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { openDatabase } from '../../src/store/database/database.js';
import { migrationSource } from '../../src/store/migration/index.js';
import { client } from '../support/client.js';
import { createDatabase } from '../support/postgres.js';
import { root } from '../support/root.js';
import { secretFor, settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/**
 * A database from an earlier version is migrated, and everything in it still works (docs: Upgrade). The fixture is a
 * dump from `pg_dump --inserts`. Earlier versions of the program wrote its rows over the API, and compiled its policy.
 */

/** Last migration before the first release. */
const old = '0030-refreshes';
const fixture = gunzipSync(readFileSync(join(root, `test/case-upgrade/${old}.sql.gz`))).toString();
/** Secret key of the fixture. */
const secretKey = 'fixture-secret-key-of-a-database-of-the-release-before';

/** Creates a database from the fixture, and runs a statement in it. */
async function oldDatabase(statement = 'select 1') {
	const database = await createDatabase('none');
	await ask(database.url, fixture);
	await ask(database.url, statement);
	return database;
}

/** Returns the rows of a statement's result. */
async function ask(url: string, statement: string): Promise<readonly object[]> {
	const connection = new pg.Client({ connectionString: url });
	await connection.connect();
	try {
		return (await connection.query<object>(statement)).rows;
	} finally {
		await connection.end();
	}
}

/** Returns the columns, constraints, indexes and triggers of all tables, without the decision log's partitions. */
async function readTables(url: string) {
	const here = `relnamespace = 'public'::regnamespace and not relispartition`;
	return {
		columns: await ask(
			url,
			`select relname, attnum, attname, format_type(atttypid, atttypmod) as type, attnotnull, attstorage,
				pg_get_expr(adbin, adrelid) as "default", pg_get_partkeydef(pg_class.oid) as parts
			from pg_class join pg_attribute on attrelid = pg_class.oid
			left join pg_attrdef on adrelid = attrelid and adnum = attnum
			where ${here} and relkind in ('r', 'p') and attnum > 0 order by relname, attnum`,
		),
		constraints: await ask(
			url,
			`select relname, conname, pg_get_constraintdef(pg_constraint.oid) as definition
			from pg_constraint join pg_class on pg_class.oid = conrelid where ${here} order by relname, conname`,
		),
		indexes: await ask(
			url,
			`select pg_get_indexdef(indexrelid) as definition from pg_index join pg_class on pg_class.oid = indexrelid
			where ${here} order by definition`,
		),
		triggers: await ask(
			url,
			`select relname, tgname from pg_trigger join pg_class on pg_class.oid = tgrelid
			where ${here} and not tgisinternal order by relname, tgname`,
		),
		functions: await ask(url, `select proname from pg_proc where pronamespace = 'public'::regnamespace`),
	};
}

test('a database from before the first release is migrated to the tables of a new database', async (t) => {
	const adopted = await oldDatabase();
	const fresh = await createDatabase('none');
	t.teardown(async () => {
		await adopted.drop();
		await fresh.drop();
	});
	// Two processes start on the same database at the same time.
	const urls = [adopted.url, adopted.url, fresh.url];
	await Promise.all(urls.map(async (url) => (await openDatabase({ url, directory: 'unused' })).close()));
	t.deepEqual(await readTables(adopted.url), await readTables(fresh.url));
	const names = 'select name from knex_migrations order by id';
	t.deepEqual(await ask(adopted.url, names), await ask(fresh.url, names));
});

test('an even older database is rejected with a remedy', async (t) => {
	const statement = `delete from knex_migrations where name > '0012-check-bounds'`;
	const database = await oldDatabase(statement);
	t.teardown(database.drop);
	const config = readConfig({ ...settings(temporary(t), 'unused'), DATABASE_URL: database.url });
	await t.throwsAsync(startApi(config, createLogger('silent')), {
		instanceOf: ConfigError,
		message:
			'DATABASE_URL: an unreleased version of Regolith has migrated the database (0012-check-bounds): start the last unreleased version (0030-refreshes) once, or export the environments with the old version and import them into a new database',
	});
	t.is((await ask(database.url, 'select name from knex_migrations')).length, 12);
});

test('a database that a newer version has migrated is rejected in one sentence', async (t) => {
	const database = await createDatabase();
	t.teardown(database.drop);
	const connection = knex({ client: 'pg', connection: database.url });
	const row = { name: '9999-from-later', batch: 9, migration_time: new Date() };
	// The tables exist only if a template was prepared.
	await connection.migrate.latest({ migrationSource });
	await connection('knex_migrations').insert(row);
	await connection.destroy();
	const config = readConfig({ ...settings(temporary(t), 'unused'), DATABASE_URL: database.url });
	await t.throwsAsync(startApi(config, createLogger('silent')), {
		instanceOf: ConfigError,
		message: /^DATABASE_URL: a newer version of Regolith has migrated the database \(9999-from-later\)/,
	});
});

test('a database from an earlier version serves decisions, lists and writes as before', async (t) => {
	const database = await oldDatabase();
	const config = readConfig({
		...settings(temporary(t), 'unused'),
		DATABASE_URL: database.url,
		SECRET_KEY: secretKey,
	});
	const log = createLogger(config.log_level);
	const said: string[] = [];
	const api = await startApi(config, log, { say: (step) => said.push(step), policyWait: 120_000 });
	t.teardown(async () => {
		await api.stop();
		await database.drop();
	});
	// Other steps are announced only if they are slow.
	t.true(said.includes('creating or updating the tables'));
	t.is(api.firstKey, null, 'no keys are created again');
	const key = secretFor('upgrade-environment');
	const decisionPoint = await startDecisionPoint(config, log, api.listening.url, key);
	t.teardown(decisionPoint.stop);
	const http = client(api.listening.url, key);
	const pdp = client(decisionPoint.listening.url, key);
	const allows = async (user: string, action: string, resource: object, revision?: number) => {
		const headers = { 'x-min-revision': String(revision ?? 1) };
		const check = { user, action, resource: { type: 'document', tenant: 'acme', ...resource } };
		return (await pdp.post('/allowed', check, { headers })).body['allow'];
	};

	await decisionPoint.replica.reached(1);
	t.is(await allows('ann', 'read', {}), true, 'by a role that extends another');
	t.is(await allows('odd|user@x.y_z', 'read', {}), true);
	t.is(await allows('odd|user@x.y_z', 'write', {}), false);
	t.is(await allows('ben', 'read', { key: 'roadmap' }), true, 'by a role on the folder of the document');
	t.is(await allows('ben', 'write', { key: 'roadmap' }), false);
	t.is(await allows('edna', 'read', {}), true, 'by a role that expires');
	t.is(await allows('carl', 'read', {}), false, 'a deleted user');
	const draft = { attributes: { status: 'draft' } };
	t.is(await allows('ann', 'delete', draft), true);
	t.is(await allows('ben', 'delete', draft), false, 'a user outside of the user set');

	const ann = await http.get('/v2/facts/default/dev/users/ann');
	t.deepEqual(ann.body['attributes'], { age: 34, 'odd \u2028 key': ['😀', 1.5, null] });
	const organization = client(api.listening.url, secretFor('upgrade-organization'));
	const shown = await organization.get('/v2/api-key/default/dev');
	t.is(shown.body['secret'], key, 'the key is still shown');

	const given = { user: 'ben', role: 'reader', tenant: 'acme', expires_at: '2999-01-01T00:00:00Z' };
	const { status, revision = 0 } = await http.post('/v2/facts/default/dev/role_assignments', given);
	t.is(status, 200);
	t.is(await allows('ben', 'read', {}, revision), true);
	const exported = await organization.get('/v2/projects/default/envs/dev/export');
	t.is(exported.status, 200);
});
