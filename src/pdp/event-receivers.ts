/** Where decisions are logged: a file, standard output, the control plane, or any HTTP collector. */

import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { deadline } from './deadline.js';
import { type EventReceiver, RefusedEvents } from './event-queue.js';

const compress = promisify(gzip);

/** How long a collector may take for a chunk, in milliseconds. */
const timeout = 30_000;

/** Statuses of a collector that the same chunk would get again. */
const refusals: ReadonlySet<number> = new Set([400, 404, 405, 410, 413, 415, 422]);

/** Appends lines to a file, which is opened anew after a failure, so that it can be moved away. */
export function fileReceiver(path: string): EventReceiver {
	let file: FileHandle | undefined;
	const close = async () => {
		const open = file;
		file = undefined;
		await open?.close();
	};
	return {
		name: 'file',
		maxEvents: 20_000,
		maxLength: 4 * 1024 * 1024,
		async send(lines) {
			try {
				file ??= await open(path, 'a', 0o600);
				await file.appendFile(`${lines.join('\n')}\n`);
			} catch (error) {
				await close().catch(() => undefined);
				throw error;
			}
		},
		close,
	};
}

/** Writes lines to standard output. */
export function outputReceiver(output: NodeJS.WritableStream = process.stdout): EventReceiver {
	return {
		name: 'stdout',
		maxEvents: 20_000,
		maxLength: 1024 * 1024,
		send: (lines) =>
			new Promise((resolve, reject) => {
				output.write(`${lines.join('\n')}\n`, (error) => (error ? reject(error) : resolve()));
			}),
	};
}

/** Where a collector is. */
export interface Collector {
	readonly name: string;
	readonly url: string;
	/** The bearer token, where it wants one. */
	readonly token: string | null;
	/** The most characters of a chunk; 1 MiB unless given. */
	readonly maxLength?: number;
}

/** Posts a JSON array of events, compressed, as OPA does. Redirections are not followed. */
export function httpReceiver({ name, url, token, maxLength = 1024 * 1024 }: Collector): EventReceiver {
	return {
		name,
		maxEvents: 1_000,
		maxLength,
		async send(lines, signal) {
			const body = await compress(`[${lines.join(',')}]`);
			const headers = {
				'content-type': 'application/json',
				'content-encoding': 'gzip',
				...(token === null ? {} : { authorization: `Bearer ${token}` }),
			};
			const status = await deadline(signal, timeout, async (limited) => {
				const response = await fetch(url, { method: 'POST', headers, body, signal: limited, redirect: 'manual' });
				await response.arrayBuffer();
				return response.status;
			});
			if (status >= 200 && status < 300) return;
			const message = `the receiver answered ${status}`;
			throw refusals.has(status) ? new RefusedEvents(message) : new Error(message);
		},
	};
}
