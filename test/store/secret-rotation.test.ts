import { createHash, randomUUID } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type RunningApi, startApi } from '../../src/compose/api.js';
import { readServerKeys } from '../../src/compose/server-key.js';
import { type Config, ConfigError, readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { createCipher } from '../../src/store/account/secret.js';
import type { Store } from '../../src/store/store.js';
import { client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { createDatabase } from '../support/postgres.js';
import { launch } from '../support/processes.js';
import { facts, secretFor, settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/** The server key is replaced while API processes run (docs/operate/operation.md: Rotation). */

const [oldKey, newKey] = ['the first passphrase of these servers', 'the second passphrase of these servers'];
const options = { publishesWhenAsked: true } as const;

const start = async (t: ExecutionContext, config: Config): Promise<RunningApi> => {
	const api = await startApi(config, createLogger('silent'), options);
	let stopped: Promise<void> | undefined;
	const stop = async () => {
		stopped ??= api.stop();
		return stopped;
	};
	t.teardown(stop);
	return { ...api, stop };
};

const readProxySecret = async ({ listening }: RunningApi) =>
	(await client(listening.url, secretFor('rotated-environment')).get(`${facts}/proxy_configs/documents`)).body[
		'secret'
	];

const addProxy = ({ listening }: RunningApi) =>
	client(listening.url, secretFor('rotated-environment')).post(`${facts}/proxy_configs`, {
		key: 'documents',
		name: 'Documents',
		secret: 'a-token',
	});

/** Adds keys for the first organization, encrypted with a cipher. */
async function addKeys({ database, clock }: Store, encrypt: (secret: string) => Buffer, count: number): Promise<void> {
	const [organization] = await database.knex('organizations').select('id');
	const rows = Array.from({ length: count }, (_, index) => ({
		id: randomUUID(),
		organization_id: organization.id,
		object_type: 'org',
		access_level: 'read',
		owner_type: 'member',
		secret_hash: createHash('sha256').update(`key ${index}`).digest(),
		secret_cipher: encrypt(`key ${index}`),
		created_at: clock.now(),
	}));
	await database.knex.batchInsert('api_keys', rows, 1_000);
}

/** Counts the key secrets that a cipher decrypts. */
async function countOpened({ database }: Store, decrypt: (sealed: Uint8Array) => string): Promise<number> {
	const rows: readonly { readonly secret_cipher: Uint8Array }[] = await database
		.knex('api_keys')
		.select('secret_cipher');
	return rows.filter(({ secret_cipher }) => {
		try {
			return decrypt(secret_cipher) !== '';
		} catch {
			return false;
		}
	}).length;
}

/** Locks the last keys in the rotation's order, so no pass can complete. Returns a function that unlocks the keys. */
async function holdLastKeys({ database }: Store, count: number): Promise<() => Promise<unknown>> {
	const transaction = await database.knex.transaction();
	await transaction('api_keys').select('id').orderBy('id', 'desc').limit(count).forUpdate();
	return () => transaction.rollback();
}

/** True if a cipher decrypts the key that the rotation renews first. */
async function isFirstOpened({ database }: Store, decrypt: (sealed: Uint8Array) => string): Promise<boolean> {
	const row = await database.knex('api_keys').orderBy('id').first('secret_cipher');
	try {
		return decrypt(row.secret_cipher) !== '';
	} catch {
		return false;
	}
}

/** Waits for the server key check, which is renewed last. */
const rotated = ({ database }: Store, decrypt: (sealed: Uint8Array) => string) =>
	eventually(
		async () => {
			const row = await database.knex('server_key_check').first('sealed');
			try {
				return decrypt(row.sealed);
			} catch {
				return '';
			}
		},
		(text) => text === 'regolith',
	);

test('SECRET_KEY can be rotated while servers run, and a kill during the rotation loses no secret', async (t) => {
	t.timeout(600_000);
	const database = await createDatabase();
	t.teardown(database.drop);
	const variables = (keys: Readonly<Record<string, string>>) => ({
		...settings(temporary(t), 'rotated'),
		DATABASE_URL: database.url,
		...keys,
	});
	const config = (keys: Readonly<Record<string, string>>) => readConfig(variables(keys));
	const cipher = (secret_key: string) =>
		createCipher(readServerKeys({ secret_key, secret_key_previous: null }, temporary(t)).current);
	const [before, after] = [cipher(oldKey), cipher(newKey)];

	const first = await start(t, config({ SECRET_KEY: oldKey }));
	t.is((await addProxy(first)).status, 200);
	const count = 1_000;
	await addKeys(first.store, before.encrypt, count);
	const own = (await countOpened(first.store, before.decrypt)) - count;

	// After the first round of restarts, every process can read secrets encrypted under the new key, but no process
	// writes such secrets yet.
	const prepared = await start(t, config({ SECRET_KEY: oldKey, SECRET_KEY_PREVIOUS: newKey }));
	await first.stop();
	t.is(await readProxySecret(prepared), 'a-token');
	t.is(await countOpened(prepared.store, before.decrypt), count + own);

	// The second restart round, with a kill in the middle.
	const release = await holdLastKeys(prepared.store, 20);
	const port = String(await freePort());
	const env = variables({ SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: oldKey, API_PORT: port });
	const killed = launch({ command: ['serve'], env });
	t.teardown(() => killed.kill('SIGKILL'));
	await eventually(() => isFirstOpened(prepared.store, after.decrypt));
	await killed.kill('SIGKILL');
	await release();
	const done = await countOpened(prepared.store, after.decrypt);
	t.true(done > 0 && done < count, `${done} of ${count} were re-encrypted before the kill`);
	t.is(done + (await countOpened(prepared.store, before.decrypt)), count + own);
	t.is(await readProxySecret(prepared), 'a-token');

	const restarted = await start(t, config({ SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: oldKey }));
	t.is(await readProxySecret(restarted), 'a-token');
	await rotated(restarted.store, after.decrypt);
	t.is(await countOpened(restarted.store, after.decrypt), count + own);
	t.is(
		await readProxySecret(prepared),
		'a-token',
		'a process in the first round reads secrets written in the second round',
	);
	await prepared.stop();

	const only = await start(t, config({ SECRET_KEY: newKey }));
	t.is(await readProxySecret(only), 'a-token');
	await t.throwsAsync(start(t, config({ SECRET_KEY: oldKey })), { instanceOf: ConfigError, message: /^SECRET_KEY:/ });
});

test('a server key in a file can be rotated by moving the file', async (t) => {
	const folder = temporary(t);
	const [file, previous] = [join(folder, 'server.key'), join(folder, 'server.key.previous')];
	const database = await createDatabase();
	t.teardown(database.drop);
	const config = readConfig({ ...settings(folder, 'rotated'), DATABASE_URL: database.url });
	const first = await start(t, config);
	t.is((await addProxy(first)).status, 200);
	await first.stop();

	renameSync(file, previous);
	const second = await start(t, config);
	t.is(await readProxySecret(second), 'a-token');
	await rotated(second.store, createCipher(readServerKeys(config, folder).current).decrypt);
	await second.stop();

	rmSync(previous);
	t.is(await readProxySecret(await start(t, config)), 'a-token');
});

test('the previous passphrase must differ from the current passphrase', (t) => {
	t.throws(() => readConfig({ SECRET_KEY: oldKey, SECRET_KEY_PREVIOUS: oldKey }), {
		instanceOf: ConfigError,
		message: 'SECRET_KEY_PREVIOUS: must differ from SECRET_KEY',
	});
});
