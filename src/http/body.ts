import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { Failure, type Problem, unprocessable } from '../failure.js';
import { IllFormedError, JsonBuilder, JsonLimitError, parseJson } from './json-builder.js';

/** The most deeply nested JSON that is accepted. Real policies nest a few levels; the bound keeps recursion safe. */
const maxDepth = 100;

/** How much a body may hold, also when it is not compressed any more. */
export interface BodyLimits {
	readonly bytes: number;
	/** Lists, objects and commas: what parsing and validating cost grows with these rather than with the bytes. */
	readonly values: number;
}

/** A body up to this size, in bytes, is parsed at once; no such body takes long. */
const smallBytes = 64 * 1024;

/** How long a body may hold the event loop, in milliseconds, before others have their turn. */
const sliceMilliseconds = 5;

/** How much of a body that nobody reads is thrown away, in bytes, before its connection is cut. */
const mostDiscarded = 64 * 1024 * 1024;

/**
 * Reads the body of a request as JSON, whatever its content type says; `undefined` when there is none. Throws
 * `invalid`, `too_large` and `unprocessable`.
 */
export async function readJson(
	request: IncomingMessage,
	response: ServerResponse,
	limits: BodyLimits,
): Promise<unknown> {
	const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
	if (length === undefined ? encoding === undefined : Number(length) === 0) return undefined;
	if (Number(length) > limits.bytes) throw tooLarge(limits.bytes, 'bytes');
	if (waitsToSend(request)) {
		response.writeContinue();
		delete request.headers.expect;
	}
	const reading = new Reading(limits);
	const source = decompressed(request);
	try {
		await consume(source, (chunk) => reading.add(chunk));
		return reading.finish();
	} catch (error) {
		request.unpipe();
		if (source !== request) source.destroy();
		throw asFailure(error, limits);
	}
}

/** Whether a client waits to be told to go on before it sends its body. */
export function waitsToSend({ headers, complete }: IncomingMessage): boolean {
	return headers.expect !== undefined && !complete;
}

/**
 * Throws away what still comes of a body, so that the connection can go on; cuts the connection when it is too much. Calls
 * `ended` when nothing comes any more.
 */
export function discardRest(request: IncomingMessage, ended: () => void = () => {}): void {
	let left = mostDiscarded;
	request.on('data', (chunk: Buffer) => {
		left -= chunk.length;
		if (left < 0) request.socket.destroy();
	});
	request.once('end', ended);
	// A client that leaves meanwhile is nobody's failure.
	request.on('error', ended);
	request.resume();
}

/** The bytes of a body on their way to a value. */
class Reading {
	readonly #limits: BodyLimits;
	readonly #chunks: Buffer[] = [];
	#bytes = 0;
	#builder: JsonBuilder | undefined;
	#decoder: TextDecoder | undefined;

	constructor(limits: BodyLimits) {
		this.#limits = limits;
	}

	add(chunk: Buffer): void {
		this.#bytes += chunk.length;
		if (this.#bytes > this.#limits.bytes) throw tooLarge(this.#limits.bytes, 'bytes');
		this.#chunks.push(chunk);
		if (this.#bytes <= smallBytes) return;
		this.#builder ??= new JsonBuilder({ depth: maxDepth, values: this.#limits.values });
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
		const bytes = others.length === 0 ? first : Buffer.concat(this.#chunks);
		if (!isUtf8(bytes)) throw notUtf8();
		const value = parseJson(withoutMark(bytes.toString()));
		if (depthExceeds(value, maxDepth)) throw new JsonLimitError('depth');
		return value;
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

/** Hands on the chunks of a stream; pauses it now and then. Where it fails or `take` does, the rest is left unread. */
function consume(source: Readable, take: (chunk: Buffer) => void): Promise<void> {
	return new Promise((resolve, reject) => {
		let held = 0;
		const stop = (settle: () => void) => {
			source.off('data', data).off('end', ended).off('error', failed).off('close', cut);
			settle();
		};
		const ended = () => stop(resolve);
		const failed = (error: unknown) => {
			source.pause();
			stop(() => reject(error));
		};
		const cut = () => failed(new Error('the request ended before its body did'));
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
	throw new Failure('invalid', `the content encoding \`${encoding}\` is not one of gzip, deflate and br`);
}

function asFailure(error: unknown, limits: BodyLimits): Failure {
	if (error instanceof Failure) return error;
	if (error instanceof IllFormedError) return illFormed(['body', ...error.path], 'must not contain lone surrogates');
	if (error instanceof JsonLimitError) {
		if (error.limit === 'depth') return new Failure('invalid', `the body nests deeper than ${maxDepth} levels`);
		return tooLarge(limits.values, 'values');
	}
	const message = error instanceof Error ? error.message : String(error);
	return new Failure('invalid', `the request body is not valid JSON: ${message}`);
}

/** A text that is no Unicode. */
export function illFormed(loc: Problem['loc'], msg: string): Failure {
	return unprocessable([{ loc, msg, type: 'ill_formed' }]);
}

function notUtf8(): Failure {
	return illFormed(['body'], 'must be UTF-8');
}

function tooLarge(most: number, what: keyof BodyLimits): Failure {
	return new Failure('too_large', `a request body may hold at most ${most} ${what}`);
}

/** Some clients begin a text with a byte order mark. */
function withoutMark(text: string): string {
	return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function depthExceeds(value: unknown, limit: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	return limit === 0 || Object.values(value).some((inner) => depthExceeds(inner, limit - 1));
}
