import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Answer, DatabaseFolder, Question } from './message.js';

const worker = new URL('./worker.js', import.meta.url);

interface OpenRequest {
	readonly since: number;
	readonly resolve: (result: unknown) => void;
	readonly reject: (error: unknown) => void;
}

/** Thread that runs an embedded database. It keeps the process alive only while a request waits for it. */
export class Thread {
	readonly #worker: Worker;
	readonly #asked = new Map<number, OpenRequest>();
	#last = 0;
	#ended: Error | null = null;

	private constructor(folder: DatabaseFolder, program: URL) {
		// The thread does not inherit the process's flags, such as test hooks.
		this.#worker = new Worker(program, { workerData: folder, execArgv: [] });
		this.#worker.on('message', (answer: Answer) => this.#settle(answer));
		this.#worker.on('error', (error) => this.#end(error));
		this.#worker.on('exit', () => this.#end(new Error('the database thread has ended')));
	}

	/**
	 * Opens the database in a folder, and creates the folder if it is missing. Rejects if the database cannot be opened.
	 * If opening is interrupted, rejects after the thread has ended.
	 */
	static async open(folder: DatabaseFolder, program = worker, interrupted?: AbortSignal): Promise<Thread> {
		interrupted?.throwIfAborted();
		const thread = new Thread(folder, program);
		const opened = new Promise((resolve, reject) => thread.#wait(0, resolve, reject));
		let ending: Promise<void> | null = null;
		const interrupt = () => {
			ending = thread.end(new Error('opening the database was interrupted'));
		};
		interrupted?.addEventListener('abort', interrupt);
		try {
			await opened;
			return thread;
		} finally {
			interrupted?.removeEventListener('abort', interrupt);
			await ending;
		}
	}

	/** Sends a request. Rejects with the database's errors, or if the thread ends before it responds. */
	ask(question: Omit<Question, 'id'>): Promise<unknown> {
		return new Promise((resolve, reject) => {
			if (this.#ended !== null) return reject(this.#ended);
			this.#last += 1;
			const id = this.#last;
			this.#wait(id, resolve, reject);
			this.#worker.postMessage({ ...question, id } satisfies Question);
		});
	}

	/** Waiting time of the oldest pending request, in milliseconds; 0 if no request is pending. */
	get waited(): number {
		const [oldest] = this.#asked.values();
		return oldest === undefined ? 0 : performance.now() - oldest.since;
	}

	/** Terminates the thread immediately. Rejects pending requests with the reason. */
	async end(reason: Error): Promise<void> {
		this.#end(reason);
		await this.#worker.terminate();
	}

	/**
	 * Closes the database, then ends the thread. Terminates the thread if closing takes longer than `timeout`
	 * milliseconds.
	 */
	async close(timeout: number): Promise<void> {
		const over = new AbortController();
		const late = sleep(timeout, undefined, { signal: over.signal });
		await Promise.race([this.ask({ kind: 'close' }), late]).catch(() => undefined);
		over.abort();
		late.catch(() => undefined);
		await this.end(new Error('the database is closed'));
	}

	#wait(id: number, resolve: (result: unknown) => void, reject: (error: unknown) => void): void {
		this.#asked.set(id, { since: performance.now(), resolve, reject });
		this.#worker.ref();
	}

	#settle(answer: Answer): void {
		const asked = this.#asked.get(answer.id);
		this.#asked.delete(answer.id);
		if (this.#asked.size === 0) this.#worker.unref();
		if ('result' in answer) asked?.resolve(answer.result);
		else asked?.reject(Object.assign(new Error(answer.failure.message), answer.failure));
	}

	#end(reason: Error): void {
		this.#ended ??= reason;
		for (const { reject } of this.#asked.values()) reject(this.#ended);
		this.#asked.clear();
		this.#worker.unref();
	}
}
