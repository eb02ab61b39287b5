import { Failure } from '../failure.js';
import { clientGone, Turns } from '../limit/turns.js';
import type { Logger } from '../log.js';
import { ImpactProcess, type ProcessLimits } from './impact-process.js';

/** Maximum number of processes, each for a single environment. */
const maxProcesses = 2;
/** Maximum waiting requests per environment. */
const maxWaiting = 4;
/** Time without a request before a process ends, in milliseconds. */
const idleTime = 60_000;

/** Callback that uses a process. `left` returns the remaining time in milliseconds. */
export type ProcessWork<T> = (process: ImpactProcess, left: () => number) => Promise<T>;

/** Options for processes, in addition to their limits. */
export interface ProcessesOptions {
	readonly limits: ProcessLimits;
	readonly log: Logger;
	/** Time without a request before a process ends, in milliseconds. */
	readonly idle?: number;
	readonly start?: (limits: ProcessLimits, log: Logger) => ImpactProcess;
}

interface Kept {
	readonly process: ImpactProcess;
	idle: NodeJS.Timeout | undefined;
}

/**
 * Processes that compare states: one for each recently used environment. A process starts on first use, runs one
 * callback at a time, and ends after a minute without callbacks.
 */
export class ImpactProcesses {
	readonly #kept = new Map<string, Kept>();
	readonly #turns = new Turns({ running: maxProcesses, waiting: maxWaiting });
	#stopped = false;

	constructor(private readonly options: ProcessesOptions) {}

	/** Running process ids. */
	get pids(): readonly number[] {
		return [...this.#kept.values()].flatMap(({ process }) => process.pid ?? []);
	}

	/**
	 * Runs `work` with the environment's process when its turn comes. Settles with the result of `work`. Rejects with
	 * `Failure`: `busy` if too many requests wait, and `unavailable` if the client disconnects first or all processes are
	 * stopped. After a disconnect, `work` keeps its turn until it settles, so the process and its state stay available for
	 * the next request.
	 */
	async run<T>(environment: string, closed: AbortSignal, work: ProcessWork<T>): Promise<T> {
		await this.#turns.wait(environment, closed);
		return unlessGone(this.#inTurn(environment, work), closed);
	}

	/** Ends all processes, and rejects waiting requests. */
	async stop(): Promise<void> {
		this.#stopped = true;
		this.#turns.stop();
		await Promise.all([...this.#kept.keys()].map((environment) => this.#end(environment)));
	}

	async #inTurn<T>(environment: string, work: ProcessWork<T>): Promise<T> {
		const began = performance.now();
		const left = () => this.options.limits.time - (performance.now() - began);
		try {
			return await work(await this.#process(environment), left);
		} finally {
			this.#rest(environment);
			this.#turns.end(environment);
		}
	}

	async #process(environment: string): Promise<ImpactProcess> {
		const known = this.#kept.get(environment);
		clearTimeout(known?.idle);
		if (known?.process.answers) return known.process;
		await this.#end(environment);
		const idle = [...this.#kept.keys()].find((other) => !this.#turns.isTaken(other));
		if (this.#kept.size >= maxProcesses && idle !== undefined) await this.#end(idle);
		if (this.#stopped) throw new Failure('unavailable', 'the server is stopping');
		const { limits, log, start = (...given) => new ImpactProcess(...given) } = this.options;
		const process = start(limits, log);
		this.#kept.set(environment, { process, idle: undefined });
		return process;
	}

	/** Ends the environment's process after an idle period. */
	#rest(environment: string): void {
		const kept = this.#kept.get(environment);
		if (kept === undefined) return;
		if (!kept.process.answers) void this.#end(environment);
		else kept.idle = setTimeout(() => void this.#end(environment), this.options.idle ?? idleTime);
	}

	async #end(environment: string): Promise<void> {
		const kept = this.#kept.get(environment);
		if (kept === undefined) return;
		this.#kept.delete(environment);
		clearTimeout(kept.idle);
		await kept.process.stop();
	}
}

/**
 * Settles with the result of `work`. Rejects with `Failure` (`unavailable`) as soon as the client disconnects, while
 * `work` continues.
 */
function unlessGone<T>(work: Promise<T>, closed: AbortSignal): Promise<T> {
	return new Promise((resolve, reject) => {
		const leave = () => reject(clientGone());
		closed.addEventListener('abort', leave);
		if (closed.aborted) leave();
		work.then(resolve, reject).finally(() => closed.removeEventListener('abort', leave));
	});
}
