import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startApi } from '../../src/compose/api.js';
import { createKeyByCommand } from '../../src/compose/bootstrap.js';
import { openStore } from '../../src/compose/store.js';
import { type Config, ConfigError, readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { createDatabase } from '../support/postgres.js';
import { settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/**
 * The secrets in a store can be decrypted only with their server key. A start with a wrong key fails before it causes
 * any damage.
 */

const wanted = { project: null, environment: null, access_level: 'admin', name: null } as const;

async function startAndStop(config: Config): Promise<void> {
	const api = await startApi(config, createLogger('silent'));
	await api.stop();
}

async function refused(t: ExecutionContext, config: Config): Promise<void> {
	const told = { instanceOf: ConfigError, message: /SECRET_KEY.*server\.key/ };
	await t.throwsAsync(startAndStop(config), told);
	const store = await openStore(config);
	await t.throwsAsync(createKeyByCommand(store, wanted), told);
	await store.close();
}

test('a server without its key refuses to start, and starts again with the key', async (t) => {
	const database = await createDatabase();
	t.teardown(database.drop);
	const folder = temporary(t);
	const withoutKey = { ...settings(folder, 'lost'), DATABASE_URL: database.url };
	const config = readConfig({ ...withoutKey, SECRET_KEY: 'the first passphrase of this test' });
	await startAndStop(config);
	await startAndStop(config);
	await refused(t, readConfig(withoutKey));
	rmSync(join(folder, 'server.key'));
	await startAndStop(config);
});

test('a second node without the shared SECRET_KEY refuses to start', async (t) => {
	const database = await createDatabase();
	t.teardown(database.drop);
	const node = (name: string, SECRET_KEY: string) =>
		readConfig({ ...settings(temporary(t), name), DATABASE_URL: database.url, SECRET_KEY });
	const common = 'the same passphrase on every node';
	await startAndStop(node('one', common));
	await startAndStop(node('two', common));
	await refused(t, node('three', ''));
	await refused(t, node('four', `${common}, nearly`));
});

test('the command for new keys works only after the first start of a server', async (t) => {
	const database = await createDatabase();
	t.teardown(database.drop);
	const config = readConfig({ ...settings(temporary(t), 'early'), DATABASE_URL: database.url });
	const store = await openStore(config);
	await t.throwsAsync(createKeyByCommand(store, wanted), { instanceOf: ConfigError, message: /Start the server once/ });
	await store.close();
	await startAndStop(config);
	const later = await openStore(config);
	t.regex(await createKeyByCommand(later, wanted), /^permit_key_/);
	await later.close();
});
