import type { Logger } from '../log.js';
import type { AuditLogUpkeep } from '../store/audit-log/audit-log-upkeep.js';

/** Time in milliseconds between rounds. */
const defaultPause = 600_000;

/** Keeps the decision log within its limits: prepares space for the next day, and drops old and excess decisions. */
export class AuditLogKeeper {
	#timer: NodeJS.Timeout | null = null;
	#keeping: Promise<void> = Promise.resolve();
	#running = false;
	#stopped = false;
	#full: readonly string[] = [];

	/** @param keep runs a round; @param pause milliseconds between rounds. */
	constructor(
		private readonly keep: () => Promise<AuditLogUpkeep>,
		private readonly log: Logger,
		private readonly pause = defaultPause,
	) {}

	/** Starts the rounds. Resolves after the first round. */
	async start(): Promise<void> {
		this.#keeping = this.#round();
		await this.#keeping;
	}

	/** Starts a round now, unless a round is running. */
	wake(): void {
		if (this.#running || this.#stopped) return;
		if (this.#timer !== null) clearTimeout(this.#timer);
		this.#keeping = this.#round();
	}

	/** Stops the rounds. Resolves when no round is running. */
	async stop(): Promise<void> {
		this.#stopped = true;
		if (this.#timer !== null) clearTimeout(this.#timer);
		await this.#keeping;
	}

	async #round(): Promise<void> {
		this.#running = true;
		try {
			const { dropped, full } = await this.keep();
			if (dropped.length > 0) this.log.info({ days: dropped }, 'old decisions were dropped');
			const environments = full.filter((id) => !this.#full.includes(id));
			if (environments.length > 0) {
				this.log.warn(
					{ environments },
					"today's decisions have used up the environment's quota: new decisions are dropped",
				);
			}
			this.#full = full;
		} catch (error) {
			// The database may be unavailable or full. The next round tries again.
			if (!this.#stopped) this.log.warn({ error }, 'the decision log could not be trimmed to its limits');
		}
		this.#running = false;
		if (this.#stopped) return;
		this.#timer = setTimeout(() => {
			this.#keeping = this.#round();
		}, this.pause).unref();
	}
}
