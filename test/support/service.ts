import { type Exit, type Launch, launch, type Running } from './processes.js';

/** A process that comes and goes at one address, always with the same surroundings. */
export class Service {
	#running: Running | undefined;
	readonly #past: string[] = [];

	constructor(
		/** The address at which it answers `GET /healthy`. */
		readonly url: string,
		private readonly launching: Launch,
	) {}

	/** Starts it and waits until it answers. Throws, with its output, when it ends before that. */
	async start(): Promise<void> {
		await this.launch().answering(`${this.url}/healthy`);
	}

	/** Starts it and does not wait. */
	launch(): Running {
		this.#running = launch(this.launching);
		return this.#running;
	}

	/** Kills it as `kill -9` does and waits until it is gone. */
	async kill(): Promise<void> {
		await this.#end('SIGKILL');
	}

	/** Tells it to stop and waits until it has. Throws, with its output, unless it ends with code 0. */
	async stop(): Promise<void> {
		const exit = await this.#end('SIGTERM');
		if (exit !== undefined && exit.code !== 0) {
			throw new Error(`stopping ended with ${exit.signal ?? exit.code}\n${this.output()}`);
		}
	}

	/** The id of its process; `undefined` when it does not run. */
	get pid(): number | undefined {
		return this.#running?.pid;
	}

	/** All it has printed, in all its lives. */
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
