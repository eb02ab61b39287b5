import { type Exit, type Launch, launch, type Running } from './processes.js';

/** A process that can be restarted at a fixed address with the same environment variables. */
export class Service {
	#running: Running | undefined;
	readonly #past: string[] = [];

	constructor(
		/** Base URL for `GET /healthy`. */
		readonly url: string,
		private readonly launching: Launch,
	) {}

	/**
	 * Starts the process and waits until it serves requests. If the process exits first, throws an error that contains
	 * its output.
	 */
	async start(): Promise<void> {
		await this.launch().answering(`${this.url}/healthy`);
	}

	/** Starts the process without waiting. */
	launch(): Running {
		this.#running = launch(this.launching);
		return this.#running;
	}

	/** Kills the process and waits until it has exited. */
	async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Exit | undefined> {
		return this.#end(signal);
	}

	/**
	 * Stops the process and waits until it has exited. Unless the exit code is 0, throws an error that contains the
	 * output.
	 */
	async stop(): Promise<void> {
		const exit = await this.#end('SIGTERM');
		if (exit !== undefined && exit.code !== 0) {
			throw new Error(`stopping ended with ${exit.signal ?? exit.code}\n${this.output()}`);
		}
	}

	/** Process id; `undefined` if the process is not running. */
	get pid(): number | undefined {
		return this.#running?.pid;
	}

	/** Output from all runs. */
	output(): string {
		return [...this.#past, this.#running?.stdout() ?? '', this.#running?.stderr() ?? ''].join('');
	}

	async #end(signal: NodeJS.Signals): Promise<Exit | undefined> {
		const exit = await this.#running?.kill(signal);
		this.#past.push(this.#running?.stdout() ?? '', this.#running?.stderr() ?? '');
		this.#running = undefined;
		return exit;
	}
}
