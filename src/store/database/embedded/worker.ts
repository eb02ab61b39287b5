import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { syncTree } from '../../../file/sync-folder.js';
import type { Answer, DatabaseFolder, Question } from './message.js';
import { OwnerOnlyFiles } from './owner-only-files.js';
import { SyncedFiles } from './synced-files.js';

/**
 * PostgreSQL in a separate thread. Its statements do not block the process, and an unresponsive database can be
 * terminated while the process continues.
 */

/** Reads 64-bit integers as numbers: the stored values are revisions and counts, far below 2^53. */
const int8 = 20;

/** PGlite by default disables `fsync` with `-F`. Emscripten has no `fdatasync`, PostgreSQL's default for its log. */
const syncedStart = [
	...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
	...['-c', 'fsync=on', '-c', 'wal_sync_method=fsync'],
];

const { path, fsync } = workerData as DatabaseFolder;
// Only a worker runs this file.
const port = parentPort as MessagePort;
const files = fsync ? { fs: new SyncedFiles(path), startParams: syncedStart } : { fs: new OwnerOnlyFiles(path) };
const database = new PGlite({ ...files, parsers: { [int8]: Number } });

port.on('message', (question: Question) => {
	void answer(question).then((given) => port.postMessage(given));
});
await database.waitReady;
// Sync all files first: PGlite creates a database without fsync, and an earlier start may have run without fsync.
if (fsync) syncTree(path);
// Collecting statistics must not take long, and a small sample is enough for planning.
await database.exec('set default_statistics_target = 20');
port.postMessage({ id: 0, result: undefined } satisfies Answer);

/** Handles a request. Never rejects. */
async function answer(question: Question): Promise<Answer> {
	const { id } = question;
	try {
		return { id, result: await run(question) };
	} catch (error) {
		// Copying an error between threads keeps only its message, so SQLSTATE and constraint are sent as plain properties.
		const { message } = error as Error;
		return { id, failure: { ...(error as object), message } };
	}
}

async function run({ kind, sql = '', bindings }: Question): Promise<unknown> {
	if (kind === 'close') return database.close();
	if (kind === 'exec') return void (await database.exec(sql));
	const { rows, fields, affectedRows } = await database.query(sql, bindings);
	return { rows, fields, affectedRows };
}
