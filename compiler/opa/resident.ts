import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RegoFile } from '../model.js';
import { sortedBy } from '../order.js';
import { OpaFailure } from './failure.js';
import { env, timeout } from './run.js';

/**
 * Thrown if the program is missing, does not have the command, or has ended. The caller can use a different compiler.
 */
export class ResidentLost extends Error {
	override readonly name = 'ResidentLost';
}

/**
 * A compiler process that keeps running between policies, so it starts only once and compiles only new files. It runs
 * `resident`, a command of the program that setup builds (`compiler/opa/resident.go` defines the protocol). The process
 * starts with the first policy and ends with this process at the latest. It keeps this process alive only while it
 * compiles.
 */
export class ResidentCompiler {
	#running: Running | undefined;
	#queue: Promise<unknown> = Promise.resolve();

	constructor(
		/** Path to the program. */
		private readonly program: string,
		private readonly entrypoints: readonly string[],
	) {}

	/**
	 * Compiles policy files to a module, one policy at a time. Equal files give equal bytes, in any order.
	 * @throws OpaFailure if the files do not compile, or take longer than two minutes.
	 * @throws ResidentLost if the program cannot be reached or has ended. The next call restarts the program.
	 */
	compile(files: readonly RegoFile[]): Promise<Uint8Array> {
		const compiled = this.#queue.then(() => this.#ask(files));
		this.#queue = compiled.catch(() => undefined);
		return compiled;
	}

	/** Ends the program; resolves after it has ended. */
	async stop(): Promise<void> {
		const running = this.#running;
		this.#running = undefined;
		await running?.stop();
	}

	async #ask(files: readonly RegoFile[]): Promise<Uint8Array> {
		const running = this.#running ?? start(this.program, this.entrypoints);
		this.#running = running;
		try {
			return await running.ask(request(files));
		} catch (error) {
			// Reuse the program only after a complete response, which may be a compile error.
			if (!(error instanceof OpaFailure) || error.exitCode === null) await this.stop();
			throw error;
		}
	}
}

interface Running {
	ask(bytes: Uint8Array): Promise<Uint8Array>;
	stop(): Promise<void>;
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

function start(program: string, entrypoints: readonly string[]): Running {
	const child = spawn(program, ['resident', ...entrypoints], { cwd: tmpdir(), env, stdio: ['pipe', 'pipe', 'ignore'] });
	const ended = once(child, 'close').catch(() => undefined);
	// Pipe errors need no handling, because `close` reports the end of the program.
	for (const emitter of [child, child.stdin, child.stdout]) emitter.on('error', () => undefined);
	holdProcess(child, false);
	return {
		async ask(bytes) {
			const over = new AbortController();
			const lost = ended.then(() => Promise.reject(new ResidentLost(`\`${program} resident\` ended`)));
			holdProcess(child, true);
			child.stdin.write(bytes);
			try {
				return await Promise.race([answer(child.stdout, over.signal), lost, tooLong(over.signal)]);
			} finally {
				over.abort();
				holdProcess(child, false);
			}
		},
		async stop() {
			holdProcess(child, true);
			child.kill('SIGKILL');
			await ended;
		},
	};
}

/** Sets whether the program keeps this process alive. */
function holdProcess(child: Child, held: boolean): void {
	const handles = [child, child.stdin, child.stdout].filter((handle) => handle === child || handle instanceof Socket);
	for (const handle of handles as (Child | Socket)[]) {
		if (held) handle.ref();
		else handle.unref();
	}
}

/** Rejects after two minutes; never settles after `signal` has aborted. */
async function tooLong(signal: AbortSignal): Promise<never> {
	await sleep(timeout, undefined, { signal, ref: false }).catch(() => new Promise(() => undefined));
	throw new OpaFailure(`\`opa build\` failed: it did not end within ${timeout / 1000} seconds`, '', null);
}

/**
 * Encodes the request for `resident.go`: the number of files, then each file's path and text, each preceded by its
 * length.
 */
function request(files: readonly RegoFile[]): Uint8Array {
	const sorted = sortedBy(files, (file) => file.path);
	const texts = sorted.flatMap(({ path, text }) => [path, text].map((part) => Buffer.from(part)));
	return Buffer.concat([number(files.length), ...texts.flatMap((text) => [number(text.length), text])]);
}

function number(value: number): Uint8Array {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(value);
	return bytes;
}

/**
 * Reads the response from `resident.go`, which consists of 0 or 1, the body length, and the body. Rejects if `signal`
 * aborts before the response is complete.
 */
async function answer(stdout: Readable, signal: AbortSignal): Promise<Uint8Array> {
	const header = 5;
	const chunks: Buffer[] = [];
	for await (const [chunk] of on(stdout, 'data', { signal }) as AsyncIterable<[Buffer]>) {
		chunks.push(chunk);
		const size = chunks.reduce((sum, { length }) => sum + length, 0);
		if (size >= header && size >= header + lengthIn(chunks)) break;
	}
	const bytes = Buffer.concat(chunks);
	const body = bytes.subarray(header);
	if (bytes[0] === 0) return body;
	const said = `error: ${body.toString('utf8')}`;
	throw new OpaFailure(`\`opa build\` failed: ${said.split('\n', 1)[0]}`, said, 1);
}

/** Returns the body length from a complete header. */
function lengthIn([first = Buffer.alloc(0), ...others]: readonly Buffer[]): number {
	return (first.length < 5 ? Buffer.concat([first, ...others]) : first).readUInt32BE(1);
}
