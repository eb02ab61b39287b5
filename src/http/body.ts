import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { errorMessage, Failure, type Problem, unprocessable } from '../failure.js';
import { IllFormedError, JsonBuilder, JsonLimitError } from './json-builder.js';
import { jsonLinesType, LineReader } from './json-line.js';
import { maxDepth, parseSmallText, smallBytes } from './small-json.js';

/** Limits for a request body. They also apply to the body after decompression. */
export interface BodyLimits {
	readonly bytes: number;
	/**
	 * Maximum number of lists, objects and commas. Parsing and validation costs depend more on this number than on
	 * bytes.
	 */
	readonly values: number;
	/** Nesting level at which objects may have any number of fields. The body itself is level 1. */
	readonly mapLevel?: number | undefined;
	/** Time in milliseconds until the body must be complete. */
	readonly milliseconds: number;
}

/**
 * Maximum number of fields per object. Distinct names are the most expensive part of JSON, and reading one field may
 * require listing all fields. With the limit, such a step stays short.
 */
export const maxBodyMembers = 16_384;

/** Maximum length of a string, name, number or run of white space, in characters. Each is parsed in a single step. */
export const maxBodyToken = 1024 * 1024;

/** Time limit, in milliseconds, for parsing in one event loop turn. */
const sliceMilliseconds = 5;

/**
 * Time limit, in milliseconds, for receiving a body of the default maximum size. For a larger maximum size, the time is
 * proportionally longer.
 */
export const bodyMilliseconds = 30_000;

/** Maximum number of bytes to discard from an unread body. After this, the connection is closed. */
const maxDiscarded = 64 * 1024 * 1024;

/**
 * Reads the request body as JSON, regardless of its content type. Returns `undefined` if there is no body. `ahead` is a
 * body that was already read. With `lines`, a body of the type `application/x-ndjson` is read as a list of `JsonLine`.
 * Throws `invalid`, `too_large`, `late` and `unprocessable`.
 */
export async function readJson(
	request: IncomingMessage,
	response: ServerResponse,
	limits: BodyLimits,
	{ ahead, lines = false }: { readonly ahead?: Buffer | undefined; readonly lines?: boolean } = {},
): Promise<unknown> {
	const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
	if (length === undefined ? encoding === undefined : Number(length) === 0) return undefined;
	if (Number(length) > limits.bytes) throw tooLarge(limits.bytes, 'bytes');
	openBody(request, response);
	const reading = new BodyParser(limits, lines && isLines(request));
	if (ahead !== undefined) return parsedAhead(reading, ahead, limits);
	const source = decompressed(request);
	try {
		await consume(source, limits.milliseconds, (chunk) => reading.add(chunk));
		return reading.finish();
	} catch (error) {
		request.unpipe();
		if (source !== request) source.destroy();
		throw asFailure(error, limits);
	}
}

function isLines({ headers }: IncomingMessage): boolean {
	return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === jsonLinesType;
}

function parsedAhead(reading: BodyParser, body: Buffer, limits: BodyLimits): unknown {
	try {
		reading.add(body);
		return reading.finish();
	} catch (error) {
		throw asFailure(error, limits);
	}
}

/**
 * Returns the request body as a stream, for forwarding it. Cuts the connection if the client does not finish in time.
 */
export function streamBody(request: IncomingMessage, response: ServerResponse): Readable {
	cutLate(request);
	return openBody(request, response);
}

function cutLate(request: IncomingMessage): void {
	const cut = setTimeout(() => request.socket.destroy(), bodyMilliseconds);
	request.once('close', () => clearTimeout(cut));
}

/** Returns the raw request body. Sends `100 Continue` to a client that waits for it. */
function openBody(request: IncomingMessage, response: ServerResponse): Readable {
	if (waitsToSend(request)) {
		response.writeContinue();
		delete request.headers.expect;
	}
	return request;
}

/** True if the client waits for `100 Continue` before it sends its body. */
export function waitsToSend({ headers, complete }: IncomingMessage): boolean {
	return headers.expect !== undefined && !complete;
}

/**
 * Discards the rest of a body, so the connection can be reused. Cuts the connection if the rest is too long or too
 * slow. Calls `ended` when the rest is discarded or the connection is closed.
 */
export function discardRest(request: IncomingMessage, ended: () => void = () => {}): void {
	let left = maxDiscarded;
	cutLate(request);
	request.on('data', (chunk: Buffer) => {
		left -= chunk.length;
		if (left < 0) request.socket.destroy();
	});
	request.once('end', ended);
	// A client may disconnect while its body is discarded.
	request.on('error', ended);
	request.resume();
}

/** Parses a body of at most 64 KiB in a single step. Throws if it is not UTF-8, not JSON, or nested too deeply. */
export function parseSmallBody(bytes: Buffer): unknown {
	if (!isUtf8(bytes)) throw notUtf8();
	return parseSmallText(withoutByteOrderMark(bytes.toString()));
}

/** Parses body bytes into a value, or into lines. */
class BodyParser {
	readonly #limits: BodyLimits;
	readonly #chunks: Buffer[] = [];
	#bytes = 0;
	#builder: JsonBuilder | LineReader | undefined;
	#decoder: TextDecoder | undefined;

	constructor(limits: BodyLimits, lines: boolean) {
		this.#limits = limits;
		if (lines) this.#builder = new LineReader(limits.values);
	}

	add(chunk: Buffer): void {
		this.#bytes += chunk.length;
		if (this.#bytes > this.#limits.bytes) throw tooLarge(this.#limits.bytes, 'bytes');
		this.#chunks.push(chunk);
		if (this.#builder === undefined && this.#bytes <= smallBytes) return;
		const { values, mapLevel } = this.#limits;
		const most = { depth: maxDepth, values, token: maxBodyToken, members: maxBodyMembers, mapLevel };
		this.#builder ??= new JsonBuilder(most);
		for (const waiting of this.#chunks.splice(0)) this.#builder.add(this.#decode(waiting, true));
	}

	finish(): unknown {
		if (this.#builder === undefined) return this.#parseSmall();
		this.#builder.add(this.#decode(undefined, false));
		return this.#builder.finish();
	}

	#parseSmall(): unknown {
		const [first, ...others] = this.#chunks;
		if (first === undefined) return undefined;
		return parseSmallBody(others.length === 0 ? first : Buffer.concat(this.#chunks));
	}

	#decode(chunk: Buffer | undefined, stream: boolean): string {
		this.#decoder ??= new TextDecoder('utf-8', { fatal: true });
		try {
			return this.#decoder.decode(chunk, { stream });
		} catch {
			throw notUtf8();
		}
	}
}

/**
 * Passes stream chunks to `take`, and pauses the stream regularly. If the stream or `take` fails, or if the stream is
 * too slow, the rest is not read.
 */
function consume(source: Readable, milliseconds: number, take: (chunk: Buffer) => void): Promise<void> {
	return new Promise((resolve, reject) => {
		let held = 0;
		const timer = setTimeout(() => failed(tooLate(milliseconds)), milliseconds);
		const stop = (settle: () => void) => {
			clearTimeout(timer);
			source.off('data', data).off('end', ended).off('error', failed).off('close', cut);
			settle();
		};
		const ended = () => stop(resolve);
		const failed = (error: unknown) => {
			source.pause();
			stop(() => reject(error));
		};
		const cut = () => failed(new Error('the request body is incomplete'));
		const data = (chunk: Buffer) => {
			const started = performance.now();
			try {
				take(chunk);
			} catch (error) {
				return failed(error);
			}
			held += performance.now() - started;
			if (held < sliceMilliseconds) return;
			held = 0;
			source.pause();
			setImmediate(() => source.resume());
		};
		source.on('data', data).on('end', ended).on('error', failed).on('close', cut);
	});
}

function decompressed(request: IncomingMessage): Readable {
	const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
	if (encoding === 'identity') return request;
	const stream = decompressor(encoding);
	request.on('error', (error) => stream.destroy(error));
	return request.pipe(stream);
}

function decompressor(encoding: string) {
	if (encoding === 'gzip' || encoding === 'deflate') return createUnzip();
	if (encoding === 'br') return createBrotliDecompress();
	throw new Failure('invalid', `the content encoding \`${encoding}\` is not supported: use gzip, deflate or br`);
}

function asFailure(error: unknown, limits: BodyLimits): Failure {
	if (error instanceof Failure) return error;
	if (error instanceof IllFormedError) return illFormed(['body', ...error.path], 'must not contain lone surrogates');
	if (error instanceof JsonLimitError) {
		if (error.limit === 'depth') return new Failure('invalid', `the body nests deeper than ${maxDepth} levels`);
		if (error.limit === 'values') return tooLarge(limits.values, 'values');
		const [where, most] =
			error.limit === 'members'
				? ['an object in a request body', `${maxBodyMembers} members`]
				: ['a string, a name or a number in a request body', `${maxBodyToken} characters`];
		return new Failure('too_large', `${where} may have at most ${most}`);
	}
	const message = errorMessage(error);
	return new Failure('invalid', `the request body is not valid JSON: ${message}`);
}

/** Returns the failure for a string that is not valid Unicode. */
function illFormed(loc: Problem['loc'], msg: string): Failure {
	return unprocessable([{ loc, msg, type: 'ill_formed' }]);
}

function notUtf8(): Failure {
	return illFormed(['body'], 'must be UTF-8');
}

function tooLate(milliseconds: number): Failure {
	return new Failure('late', `the request body must arrive within ${milliseconds / 1_000} s`);
}

function tooLarge(most: number, what: 'bytes' | 'values'): Failure {
	return new Failure('too_large', `a request body may have at most ${most} ${what}`);
}

/** Removes a leading byte order mark, which some clients send. */
function withoutByteOrderMark(text: string): string {
	return text.startsWith('\ufeff') ? text.slice(1) : text;
}
