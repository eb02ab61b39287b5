import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import type { Answer, Question } from './message.js';
import { OwnerOnlyFiles } from './owner-only-files.js';

/**
 * PostgreSQL in its own thread. Its statements do not block the rest of the process, and a database that has stopped
 * answering can be terminated without the process.
 */

/** 64-bit integers hold revisions and counts here, far below 2^53, so they are read as numbers. */
const int8 = 20;

const { path } = workerData as { readonly path: string };
// Only a worker runs this file.
const port = parentPort as MessagePort;
const database = new PGlite({ fs: new OwnerOnlyFiles(path), parsers: { [int8]: Number } });

port.on('message', (question: Question) => {
	void answer(question).then((given) => port.postMessage(given));
});
await database.waitReady;
// A small sample is enough for planning, and collecting statistics must not take long.
await database.exec('set default_statistics_target = 20');
port.postMessage({ id: 0, result: undefined } satisfies Answer);

/** Never rejects. */
async function answer(question: Question): Promise<Answer> {
	const { id } = question;
	try {
		return { id, result: await run(question) };
	} catch (error) {
		// Only the message of an error survives the copy between threads, so SQLSTATE and constraint travel as plain
		// members.
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
