/** Matches regular expressions that may take any time, in one thread that is ended when one takes too long. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Failure } from '../failure.js';
import type { Logger } from '../log.js';
import type { UrlAttributes } from './url-pattern.js';

/** What the thread is asked: whether an expression, as JavaScript writes it, matches at the start of a URL. */
export interface PatternQuestion {
	readonly source: string;
	readonly url: string;
}

/** What the thread answers: the named groups of the match, or null. */
export interface PatternAnswer {
	readonly groups: readonly (readonly [name: string, text: string | null])[] | null;
}

/** How long one match may take, in milliseconds. */
const defaultLimit = 20;

/** How long the thread may take to start, in milliseconds. */
const startLimit = 10_000;

/** How many matches may wait for the thread. */
const maxWaiting = 100;

/** Options of a thread. */
export interface PatternThreadOptions {
	readonly log: Logger;
	/** How long one match may take, in milliseconds; 20 unless given. */
	readonly limit?: number;
}

/** The thread, which starts with the first match and is replaced when it had to be ended. It keeps no process alive. */
export class PatternThread {
	readonly #log: Logger;
	readonly #limit: number;
	#worker: Promise<Worker> | undefined;
	#last: Promise<unknown> = Promise.resolve();
	#waiting = 0;

	constructor({ log, limit = defaultLimit }: PatternThreadOptions) {
		this.#log = log;
		this.#limit = limit;
	}

	/**
	 * What the named groups of the expression match at the start of the URL; null when it does not match or does not
	 * compile, and `late` when that takes too long to find out. One match follows the other. Throws `Failure`
	 * (`unavailable`) when too many wait.
	 */
	async match(source: string, url: string): Promise<UrlAttributes | null | 'late'> {
		if (this.#waiting >= maxWaiting)
			throw new Failure('unavailable', 'too many regular expressions wait to be matched');
		this.#waiting += 1;
		const matched = this.#last.then(() => this.#ask({ source, url }));
		this.#last = matched;
		try {
			const answer = await matched;
			if (answer !== 'late') return answer.groups && Object.fromEntries(answer.groups);
			this.#log.warn({ pattern: source }, `a mapping rule took more than ${this.#limit} ms: the request matches none`);
			return answer;
		} finally {
			this.#waiting -= 1;
		}
	}

	/** Asks the thread; never rejects. */
	async #ask(question: PatternQuestion): Promise<PatternAnswer | 'late'> {
		try {
			this.#worker ??= start();
			const worker = await this.#worker;
			const answered = message<PatternAnswer>(worker, this.#limit);
			worker.postMessage(question);
			return await answered;
		} catch (error) {
			const worker = this.#worker;
			this.#worker = undefined;
			if (error instanceof Error) this.#log.error({ error }, 'the thread of regular expressions failed');
			await worker?.then(
				(started) => started.terminate(),
				() => undefined,
			);
			return 'late';
		}
	}
}

/** Starts a thread; resolves when it takes questions. */
async function start(): Promise<Worker> {
	// The thread does not inherit the process's own flags, such as hooks of tests.
	const worker = new Worker(new URL('./pattern-worker.js', import.meta.url), { execArgv: [] });
	worker.unref();
	worker.on('error', () => undefined);
	await message(worker, startLimit).catch(async (reason) => {
		await worker.terminate();
		throw reason;
	});
	return worker;
}

/** The next message of a thread. Rejects with its error, and with `late` after so many milliseconds. */
function message<T>(worker: Worker, milliseconds: number): Promise<T> {
	return new Promise((resolve, reject) => {
		let timer: NodeJS.Timeout | undefined;
		const stop = (settle: () => void) => {
			clearTimeout(timer);
			worker.off('message', came).off('error', failed).off('exit', ended);
			settle();
		};
		const came = (said: T) => stop(() => resolve(said));
		const failed = (error: unknown) => stop(() => reject(error));
		const ended = () => failed(new Error('the thread has ended'));
		worker.on('message', came).on('error', failed).on('exit', ended);
		timer = setTimeout(async () => {
			// After a turn in which nobody looked, the message may be there already.
			await nextTurn();
			failed('late');
		}, milliseconds);
	});
}
