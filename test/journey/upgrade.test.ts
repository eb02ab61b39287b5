// @rest

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import knex from 'knex';
import { startApi, startDecisionPoint } from '../../src/compose/compose.js';
import { ConfigError, readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { migrationSource } from '../../src/store/migration/index.js';
import { client } from '../support/client.js';
import { createDatabase } from '../support/postgres.js';
import { root } from '../support/root.js';
import { secretFor, settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/**
 * A database from an earlier version is migrated, and everything in it still works (docs: Upgrade). Its rows were
 * written by the earlier program over its API; its tables come from that version's migrations, which never change.
 */

const old = '0012-check-bounds';
const fixture = gunzipSync(readFileSync(join(root, `test/case-upgrade/${old}.sql.gz`))).toString();
/** Secret key of the fixture. */
const secretKey = 'fixture-secret-key-of-a-database-of-the-release-before';

async function oldDatabase() {
	const database = await createDatabase('none');
	const connection = knex({ client: 'pg', connection: database.url, pool: { min: 1, max: 1 } });
	const all = await migrationSource.getMigrations([]);
	const before = all.slice(0, all.findIndex(({ name }) => name === old) + 1);
	try {
		await connection.migrate.latest({ migrationSource: { ...migrationSource, getMigrations: async () => before } });
		await connection.raw(fixture.replaceAll('?', '\\?'));
	} finally {
		await connection.destroy();
	}
	return { ...database, waiting: all.length - before.length };
}

test('a database migrated by a newer version is refused in one sentence', async (t) => {
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

test('a database from an earlier version is migrated, and decides, lists and accepts changes as before', async (t) => {
	const database = await oldDatabase();
	t.true(database.waiting > 0);
	const config = readConfig({
		...settings(temporary(t), 'unused'),
		DATABASE_URL: database.url,
		SECRET_KEY: secretKey,
	});
	const log = createLogger(config.log_level);
	const said: string[] = [];
	const api = await startApi(config, log, { say: (step) => said.push(step), policyWait: 120_000 });
	t.deepEqual(said, ['creating or updating the tables']);
	t.is(api.firstKey, null, 'no keys are made again');
	const key = secretFor('upgrade-environment');
	const decisionPoint = await startDecisionPoint(config, log, api.listening.url, key);
	t.teardown(async () => {
		await decisionPoint.stop();
		await api.stop();
		await database.drop();
	});
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
	t.is(await allows('carl', 'read', {}), false, 'who was deleted');
	const draft = { attributes: { status: 'draft' } };
	t.is(await allows('ann', 'delete', draft), true);
	t.is(await allows('ben', 'delete', draft), false, 'who is not of the set of users');

	const ann = await http.get('/v2/facts/default/dev/users/ann');
	t.deepEqual(ann.body['attributes'], { age: 34, 'odd \u2028 key': ['😀', 1.5, null] });
	const organization = client(api.listening.url, secretFor('upgrade-organization'));
	const shown = await organization.get('/v2/api-key/default/dev');
	t.is(shown.body['secret'], key, 'the key is still shown');

	const given = { user: 'ben', role: 'reader', tenant: 'acme', expires_at: '2999-01-01T00:00:00Z' };
	const { status, revision = 0 } = await http.post('/v2/facts/default/dev/role_assignments', given);
	t.is(status, 200, 'what came later is served, too');
	t.is(await allows('ben', 'read', {}, revision), true);
	const exported = await organization.get('/v2/projects/default/envs/dev/export');
	t.is(exported.status, 200);
});
