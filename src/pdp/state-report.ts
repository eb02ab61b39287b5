import type { Logger } from '../log.js';
import type { Health } from '../wire/check.js';
import { currentHealth } from './current-health.js';
import type { Replica } from './replica.js';

/** How often a decision point says how it is when nothing happens, in milliseconds. */
const interval = 60_000;
/** How soon after a change, so that several at once are one report, in milliseconds. */
const delay = 500;

/** Sends a state to the control plane. Rejects when it cannot be told. */
export type SendState = (state: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<void>;

/**
 * Tells the control plane how a decision point is: when that changes, and every minute (contract: PDP configs, state).
 * What cannot be told is told again later, and stands in nobody's way.
 */
export class StateReport {
	readonly #stopping = new AbortController();
	readonly #onRevision = () => this.#notice();
	#timer: NodeJS.Timeout | undefined;
	#told = '';

	constructor(
		private readonly replica: Replica,
		private readonly send: SendState,
		private readonly version: string,
		private readonly log: Logger,
	) {}

	start(): void {
		this.replica.events.on('revision', this.#onRevision);
		this.#schedule(delay);
	}

	stop(): void {
		this.replica.events.off('revision', this.#onRevision);
		clearTimeout(this.#timer);
		this.#stopping.abort();
	}

	/** Every revision comes by here: only what is more than a new number is told at once. */
	#notice(): void {
		if (summary(currentHealth(this.replica)) !== this.#told) this.#schedule(delay);
	}

	#schedule(after: number): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.#tell(), after);
		this.#timer.unref();
	}

	async #tell(): Promise<void> {
		const health = currentHealth(this.replica);
		try {
			const { version } = this;
			await this.send({ api_version: 'v2', pdp: { version }, ...health }, this.#stopping.signal);
			this.#told = summary(health);
		} catch (error) {
			if (this.#stopping.signal.aborted) return;
			this.log.debug({ error }, 'the control plane could not be told how the decision point is');
		}
		if (!this.#stopping.signal.aborted) this.#schedule(interval);
	}
}

/** What makes a report worth sending at once. */
function summary({ status, state, degraded }: Health): string {
	return JSON.stringify([status, state, degraded?.reason, degraded?.since]);
}
