/** Runs queries in a thread. If a query takes too long, the thread is terminated. */

import { parentPort, Worker } from 'node:worker_threads';
import type { Logger } from '../log.js';
import { nextTurn } from './next-turn.js';

/** Maximum time in milliseconds for the thread to start. */
const startLimit = 10_000;

/** Thread memory limit in MiB. */
const maxMemory = 512;

/**
 * Starts the thread with the first query, and replaces a thread that was terminated. The thread does not
 * keep the process alive.
 */
export class LimitedThread<Question, Answer> {
	readonly #file: URL;
	readonly #log: Logger | undefined;
	#worker: Promise<Worker> | undefined;
	#last: Promise<unknown> = Promise.resolve();

	/** @param file the thread's module, which calls `answerQuestions`. */
	constructor(file: URL, log?: Logger) {
		this.#file = file;
		this.#log = log;
	}

	/**
	 * Sends a query. The thread handles queries in sequence. Never rejects: resolves to `late` if the reply takes longer
	 * than `milliseconds` or the thread fails.
	 */
	ask(question: Question, milliseconds: number): Promise<Answer | 'late'> {
		const answer = this.#last.then(() => this.#ask(question, milliseconds));
		this.#last = answer;
		return answer;
	}

	async #ask(question: Question, milliseconds: number): Promise<Answer | 'late'> {
		try {
			this.#worker ??= start(this.#file);
			const worker = await this.#worker;
			const answered = message<Answer>(worker, milliseconds);
			worker.postMessage(question);
			return await answered;
		} catch (error) {
			const worker = this.#worker;
			this.#worker = undefined;
			if (error instanceof Error) this.#log?.error({ error }, 'a worker thread failed');
			await worker?.then(
				(started) => started.terminate(),
				() => undefined,
			);
			return 'late';
		}
	}
}

/** Handles the queries sent by `LimitedThread`. Called inside the thread. */
export function answerQuestions<Question, Answer>(answer: (question: Question) => Answer): void {
	parentPort?.on('message', (question: Question) => parentPort?.postMessage(answer(question)));
	parentPort?.postMessage('ready');
}

/** Starts a thread. Resolves when it accepts queries. */
async function start(file: URL): Promise<Worker> {
	// The thread does not inherit flags from the process, such as test hooks.
	const worker = new Worker(file, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: maxMemory } });
	worker.unref();
	worker.on('error', () => undefined);
	await message(worker, startLimit).catch(async (reason) => {
		await worker.terminate();
		throw reason;
	});
	return worker;
}

/** Returns the next message from a thread. Rejects with the thread's error, or with `late` after `milliseconds`. */
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
			// If the event loop was blocked, the message may have arrived already, so check once more.
			await nextTurn();
			failed('late');
		}, milliseconds);
	});
}
