import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { unpack } from '../../src/bundle/bundle.js';
import { type RunningApi, startApi } from '../../src/compose/api.js';
import { readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { createDatabase } from '../support/postgres.js';
import { settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/** Stored snapshots with damaged files, and decision points that start from stored snapshots. */

interface Served {
	/** Folder with the environment's stored snapshots. */
	readonly folder: string;
	bundle(): Promise<{ readonly status: number; readonly bytes: Buffer }>;
	/** Returns the path of the only stored WASM snapshot. */
	kept(): string;
	restart(): Promise<void>;
}

async function serve(t: ExecutionContext): Promise<Served> {
	const database = await createDatabase();
	const config = readConfig({ ...settings(temporary(t), 'kept'), DATABASE_URL: database.url });
	const log = createLogger('silent');
	const running: { api: RunningApi } = { api: await startApi(config, log) };
	t.teardown(async () => {
		await running.api.stop();
		await database.drop();
	});
	const headers = { authorization: `Bearer ${config.bootstrap.environment}` };
	const get = (path: string) => fetch(running.api.listening.url + path, { headers });
	const { environment_id } = (await (await get('/v2/api-key/scope')).json()) as { readonly environment_id: string };
	const folder = join(config.data_directory, 'bundles', environment_id);
	return {
		folder,
		async bundle() {
			const answer = await get(`/bundles/${environment_id}`);
			return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
		},
		kept() {
			const [name, ...others] = readdirSync(folder).filter((file) => /\.wasm\..*\.gz$/.test(file));
			t.truthy(name);
			t.deepEqual(others, []);
			return join(folder, name ?? '');
		},
		async restart() {
			await running.api.stop();
			running.api = await startApi(config, log);
		},
	};
}

const damages: Readonly<Record<string, (path: string) => void>> = {
	'is truncated': (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2)),
	'has a flipped bit': (path) => {
		const bytes = readFileSync(path);
		const middle = Math.floor(bytes.length / 2);
		bytes[middle] = (bytes[middle] ?? 0) ^ 1;
		writeFileSync(path, bytes);
	},
	'is empty': (path) => truncateSync(path, 0),
	'is not a bundle': (path) => writeFileSync(path, 'no bundle at all'),
	'is a folder': (path) => {
		rmSync(path);
		mkdirSync(path);
	},
};

for (const [what, damage] of Object.entries(damages)) {
	test(`a stored snapshot that ${what} is rebuilt, and the new snapshot is stored`, async (t) => {
		const served = await serve(t);
		const { bytes } = await served.bundle();
		damage(served.kept());
		const again = await served.bundle();
		t.is(again.status, 200);
		t.true((await unpack(again.bytes)).has('data.json'));
		t.true(again.bytes.equals(bytes));
		t.true(readFileSync(served.kept()).equals(bytes));
	});
}

test('requests succeed if the snapshot folder is not writable', async (t) => {
	const served = await serve(t);
	await served.bundle();
	rmSync(served.folder, { recursive: true });
	writeFileSync(served.folder, 'a file where the folder should be');
	const { status, bytes } = await served.bundle();
	t.is(status, 200);
	t.true((await unpack(bytes)).has('policy.wasm'));
	t.is((await served.bundle()).status, 200);
});

test('unfinished files of a killed process are removed at the next start', async (t) => {
	const served = await serve(t);
	await served.bundle();
	const leftover = join(served.folder, 'r1-unfinished.wasm.tar.gz.unfinished');
	writeFileSync(leftover, 'half');
	await served.restart();
	t.false(readdirSync(served.folder).includes('r1-unfinished.wasm.tar.gz.unfinished'));
	t.is((await served.bundle()).status, 200);
});
