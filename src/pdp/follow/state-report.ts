import type { Logger } from '../../log.js';
import type { Health } from '../../wire/decision/check.js';
import type { Listeners } from './listeners.js';

/** Time between two reports if nothing changes, in milliseconds. */
const interval = 60_000;
/** Time to collect changes before a report, in milliseconds. */
const delay = 500;

/** Reported health. */
export interface ReportedState {
	/** Notified when the health may have changed. */
	readonly changes: Pick<Listeners<number>, 'add' | 'remove'>;
	readonly health: () => Health;
}

/** Sends a state to the control plane. Rejects if the request fails. */
export type SendState = (state: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<void>;

/**
 * Reports a decision point's health to the control plane: on each change, and every minute. A failed report is repeated
 * later, and does not block anything.
 */
export class StateReport {
	readonly #stopping = new AbortController();
	readonly #onRevision = () => this.#notice();
	#timer: NodeJS.Timeout | undefined;
	#told = '';

	constructor(
		private readonly reported: ReportedState,
		private readonly send: SendState,
		/** Reported program properties. */
		private readonly program: () => Readonly<Record<string, unknown>>,
		private readonly log: Logger,
	) {}

	start(): void {
		this.reported.changes.add(this.#onRevision);
		this.#schedule(delay);
	}

	stop(): void {
		this.reported.changes.remove(this.#onRevision);
		clearTimeout(this.#timer);
		this.#stopping.abort();
	}

	/** Called for every revision. Only changes beyond the revision number are reported immediately. */
	#notice(): void {
		if (summary(this.reported.health()) !== this.#told) this.#schedule(delay);
	}

	#schedule(after: number): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.#tell(), after);
		this.#timer.unref();
	}

	async #tell(): Promise<void> {
		const health = this.reported.health();
		try {
			await this.send({ api_version: 'v2', pdp: this.program(), ...health }, this.#stopping.signal);
			this.#told = summary(health);
		} catch (error) {
			if (this.#stopping.signal.aborted) return;
			this.log.debug({ error }, 'the state could not be reported to the control plane');
		}
		if (!this.#stopping.signal.aborted) this.#schedule(interval);
	}
}

/** Health fields whose changes are reported immediately. */
function summary({ status, state, lineage, update_id, degraded }: Health): string {
	return JSON.stringify([status, state, lineage, update_id, degraded?.reason, degraded?.since]);
}
