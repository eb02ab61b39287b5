import { Failure } from '../failure.js';
import { clientGone, Turns } from '../limit/turns.js';
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
	readonly #turns = new Turns({ running: maxProcesses, waiting: maxWaiting });
	#stopped = false;

	constructor(private readonly options: ProcessesOptions) {}

	/** The ids of the processes that run. */
	get pids(): readonly number[] {
		return [...this.#kept.values()].flatMap(({ process }) => process.pid ?? []);
	}

	/**
	 * Runs work with the process of an environment, when its turn comes. Settles as the work does. Rejects with `Failure`:
	 * `busy` when too many wait, and `unavailable` when the client goes away first, or all are stopped. Work whose client
	 * goes away keeps its turn until it settles: the process stays, with what it holds, for whoever comes next.
	 */
	async run<T>(environment: string, closed: AbortSignal, work: ProcessWork<T>): Promise<T> {
		await this.#turns.wait(environment, closed);
		return unlessGone(this.#inTurn(environment, work), closed);
	}

	/** Ends all processes, and refuses whatever waits. */
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

/** What work gives; rejects with `Failure` (`unavailable`) as soon as the client goes away, and the work goes on. */
function unlessGone<T>(work: Promise<T>, closed: AbortSignal): Promise<T> {
	return new Promise((resolve, reject) => {
		const leave = () => reject(clientGone());
		closed.addEventListener('abort', leave);
		if (closed.aborted) leave();
		work.then(resolve, reject).finally(() => closed.removeEventListener('abort', leave));
	});
}
