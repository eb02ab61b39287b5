/** Decision log receivers: a file, standard output, the control plane, or any HTTP collector. */

import { type FileHandle, open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { constants, gzip, type ZlibOptions } from 'node:zlib';
import { z } from 'zod';
import { readText } from '../../outbound/read-text.js';
import { createSender } from '../../outbound/send.js';
import { PartlyLogged } from '../../wire/general/audit-log.js';
import { DeferredEvents, type EventReceiver, type PartlyRefused, RefusedEvents } from './event-queue.js';

const compress = promisify<Uint8Array, ZlibOptions, Buffer>(gzip);

/**
 * Events are so similar that the fastest level compresses them nearly as well as the default level, in half the time.
 */
const fastest = { level: constants.Z_BEST_SPEED };

/** Host names of this machine. Compression would take longer than sending. */
const ownHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Timeout per chunk for collectors, in milliseconds. */
const timeout = 30_000;

/** Maximum response size of a collector, in bytes. */
const maxAnswerBytes = 1024 * 1024;

/** Collector statuses for which a retry with the same chunk would fail again. */
const refusals: ReadonlySet<number> = new Set([400, 404, 405, 410, 413, 415, 422]);

/** Appends lines to a file. Reopens the file after a failure, so the file can be moved away. */
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
		maxLength: 1024 * 1024,
		async send({ bytes }) {
			try {
				file ??= await open(path, 'a', 0o600);
				await file.appendFile(bytes);
			} catch (error) {
				await close().catch(() => undefined);
				throw error;
			}
			return undefined;
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
		send: ({ bytes }) =>
			new Promise((resolve, reject) => {
				output.write(bytes, (error) => (error ? reject(error) : resolve(undefined)));
			}),
	};
}

export interface Collector {
	readonly name: string;
	readonly url: string;
	/** Bearer token; `null` if none is required. */
	readonly token: string | null;
	/** Body format: a JSON array, like OPA, or JSON lines. `array` by default. */
	readonly format?: 'array' | 'lines';
}

/** Posts events, compressed unless JSON lines stay on this machine. Does not follow redirects. */
export function httpReceiver({ name, url, token, format = 'array' }: Collector): EventReceiver {
	const compressed = format === 'array' || !ownHosts.has(new URL(url).hostname);
	const headers = {
		'content-type': format === 'array' ? 'application/json' : 'application/x-ndjson',
		...(compressed && { 'content-encoding': 'gzip' }),
		...(token === null ? {} : { authorization: `Bearer ${token}` }),
	};
	// `fetch` copies each body, and the memory of the copies makes V8 collect all garbage several times per second.
	const post = createSender(true, { milliseconds: timeout, keepsConnections: true });
	return {
		name,
		maxEvents: 1_000,
		maxLength: 1024 * 1024,
		async send({ bytes }, signal) {
			const sent = format === 'array' ? jsonArray(bytes) : bytes;
			const body = compressed ? await compress(sent, fastest) : sent;
			const response = await post({ method: 'POST', url, headers, body, signal });
			const answer = await readAnswer(response);
			const { statusCode: status = 0 } = response;
			if (status >= 200 && status < 300) return readPartlyRefused(answer);
			throw refusal(status, response.headers['retry-after'], answer);
		},
	};
}

/** Returns JSON lines as a JSON array. JSON strings contain no newlines. */
function jsonArray(lines: Uint8Array): Uint8Array {
	const array = Buffer.allocUnsafe(lines.length + 1);
	array[0] = 0x5b;
	array.set(lines, 1);
	for (let at = array.indexOf(0x0a); at !== -1; at = array.indexOf(0x0a, at)) array[at] = 0x2c;
	array[lines.length] = 0x5d;
	return array;
}

/**
 * Parses a response body as JSON; `undefined` if it is not JSON, incomplete or too long. In these cases, only the
 * status counts, because accepted events must not be sent again.
 */
async function readAnswer(response: IncomingMessage): Promise<unknown> {
	try {
		return JSON.parse(await readText(response, maxAnswerBytes));
	} catch {
		return undefined;
	}
}

/**
 * Returns the number of events that our API rejected in a chunk, with the reason. Other collectors do not report
 * rejected events.
 */
function readPartlyRefused(answer: unknown): PartlyRefused | undefined {
	const { data } = PartlyLogged.safeParse(answer);
	const reason = readReason(answer);
	return data === undefined || reason === undefined ? undefined : { refused: data.refused, reason };
}

/** Returns the error for a response other than 2xx. */
function refusal(status: number, retryAfter: string | undefined, answer: unknown): Error {
	const reason = readReason(answer);
	const text = `the receiver responded with ${status}${reason === undefined ? '' : `: ${reason}`}`;
	if (refusals.has(status)) return new RefusedEvents(text);
	const seconds = Number(retryAfter);
	return seconds > 0 ? new DeferredEvents(text, seconds) : new Error(text);
}

/** Returns the reason in a response from our API: the first problem with the events, or a message. */
function readReason(answer: unknown): string | undefined {
	const [problem] = Problems.safeParse(answer).data?.detail ?? [];
	return problem === undefined ? Explained.safeParse(answer).data?.message : `${problem.loc.join('.')}: ${problem.msg}`;
}

const Problems = PartlyLogged.pick({ detail: true });
const Explained = z.object({ message: z.string() });
