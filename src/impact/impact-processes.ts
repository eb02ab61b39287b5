import { Failure } from '../failure.js';
import type { Logger } from '../log.js';
import { ImpactProcess, type ProcessLimits } from './impact-process.js';

/** How many processes there are at most, each for one environment. */
const maxProcesses = 2;
/** How many requests for one environment wait for the one that runs. */
const maxWaiting = 4;
/** After how long without a request a process ends, in milliseconds. */
const idleTime = 60_000;

/** What runs with a process. `left` tells how much time it has, in milliseconds. */
export type ProcessWork<T> = (process: ImpactProcess, left: () => number) => Promise<T>;

/** Options of processes, besides their limits. */
export interface ProcessesOptions {
	readonly limits: ProcessLimits;
	readonly log: Logger;
	/** After how long without a request a process ends, in milliseconds. */
	readonly idle?: number;
	/** Makes a process. */
	readonly start?: (limits: ProcessLimits, log: Logger) => ImpactProcess;
}

interface Waiting {
	readonly environment: string;
	readonly begin: () => void;
}

interface Kept {
	readonly process: ImpactProcess;
	idle: NodeJS.Timeout | undefined;
}

/**
 * The processes that compare states: one for each of the environments that were asked about last. Each starts when it
 * is first needed, does one piece of work at a time, and ends after a minute without any.
 */
export class ImpactProcesses {
	readonly #kept = new Map<string, Kept>();
	readonly #running = new Set<string>();
	#waiting: Waiting[] = [];
	#stopped = false;

	constructor(private readonly options: ProcessesOptions) {}

	/** The ids of the processes that run. */
	get pids(): readonly number[] {
		return [...this.#kept.values()].flatMap(({ process }) => process.pid ?? []);
	}

	/**
	 * Runs work with the process of an environment, when its turn comes. Settles as the work does. Rejects with `Failure`:
	 * `busy` when too many wait, and `unavailable` when the client goes away first, or all are stopped.
	 */
	async run<T>(environment: string, closed: AbortSignal, work: ProcessWork<T>): Promise<T> {
		await this.#turn(environment, closed);
		const began = performance.now();
		const left = () => this.options.limits.time - (performance.now() - began);
		try {
			return await work(await this.#process(environment), left);
		} finally {
			this.#running.delete(environment);
			this.#rest(environment);
			this.#next();
		}
	}

	/** Ends all processes, and refuses whatever waits. */
	async stop(): Promise<void> {
		this.#stopped = true;
		const waiting = this.#waiting;
		this.#waiting = [];
		for (const { begin } of waiting) begin();
		await Promise.all([...this.#kept.keys()].map((environment) => this.#end(environment)));
	}

	/** Waits for the turn of an environment. */
	#turn(environment: string, closed: AbortSignal): Promise<void> {
		const before = this.#waiting.filter((other) => other.environment === environment).length;
		if (before >= maxWaiting) {
			const message = `${maxWaiting} requests of this kind wait for the environment already: try again in a few seconds`;
			throw new Failure('busy', message);
		}
		return new Promise((resolve, reject) => {
			const leave = () => {
				this.#waiting = this.#waiting.filter((other) => other !== waiting);
				reject(new Failure('unavailable', 'the client went away'));
			};
			const begin = () => {
				closed.removeEventListener('abort', leave);
				if (this.#stopped) reject(new Failure('unavailable', 'the server stops'));
				else resolve();
			};
			const waiting = { environment, begin };
			closed.addEventListener('abort', leave);
			this.#waiting.push(waiting);
			if (closed.aborted) leave();
			this.#next();
		});
	}

	/** Begins whatever can be begun: one at a time for an environment, and as many as there may be processes. */
	#next(): void {
		for (const waiting of [...this.#waiting]) {
			if (this.#running.size >= maxProcesses) return;
			if (this.#running.has(waiting.environment)) continue;
			this.#waiting = this.#waiting.filter((other) => other !== waiting);
			this.#running.add(waiting.environment);
			waiting.begin();
		}
	}

	async #process(environment: string): Promise<ImpactProcess> {
		const known = this.#kept.get(environment);
		clearTimeout(known?.idle);
		if (known?.process.answers) return known.process;
		await this.#end(environment);
		const idle = [...this.#kept.keys()].find((other) => !this.#running.has(other));
		if (this.#kept.size >= maxProcesses && idle !== undefined) await this.#end(idle);
		if (this.#stopped) throw new Failure('unavailable', 'the server stops');
		const { limits, log, start = (...given) => new ImpactProcess(...given) } = this.options;
		const process = start(limits, log);
		this.#kept.set(environment, { process, idle: undefined });
		return process;
	}

	/** Lets the process of an environment end when it has nothing to do for a while. */
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
