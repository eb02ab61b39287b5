import type { Logger } from '../log.js';
import type { AuditLogUpkeep } from '../store/table/audit-logs.js';

/** How often the decision log is kept within its limits, in milliseconds. */
const defaultPause = 600_000;

/** Keeps the decision log within its limits: makes room for the next day, and drops what is too old or too much. */
export class AuditLogKeeper {
	#timer: NodeJS.Timeout | null = null;
	#keeping: Promise<void> = Promise.resolve();
	#stopped = false;
	#full = false;

	/** @param keep one round; @param pause between two, in milliseconds. */
	constructor(
		private readonly keep: () => Promise<AuditLogUpkeep>,
		private readonly log: Logger,
		private readonly pause = defaultPause,
	) {}

	/** Keeps it now, and from now on. Resolves after the first round. */
	async start(): Promise<void> {
		this.#keeping = this.#round();
		await this.#keeping;
	}

	/** Ends that; resolves when nothing is being dropped any more. */
	async stop(): Promise<void> {
		this.#stopped = true;
		if (this.#timer !== null) clearTimeout(this.#timer);
		await this.#keeping;
	}

	async #round(): Promise<void> {
		try {
			const { dropped, full } = await this.keep();
			if (dropped.length > 0) this.log.info({ days: dropped }, 'old decisions were dropped');
			if (full && !this.#full) this.log.warn('the decisions of today take all the room there may be: none are kept');
			this.#full = full;
		} catch (error) {
			// The database may be away or full: the next round tries again.
			if (!this.#stopped) this.log.warn({ error }, 'the decision log could not be kept within its limits');
		}
		if (this.#stopped) return;
		this.#timer = setTimeout(() => {
			this.#keeping = this.#round();
		}, this.pause).unref();
	}
}
