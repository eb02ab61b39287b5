import { Listeners } from '../pdp/listeners.js';
import type { Progress } from '../pdp/progress.js';

/** The progress of all workers, as the leading process tells it. */
export class SharedProgress implements Progress {
	readonly #changes = new Listeners<void>();
	#revision = -1;
	#policyRevision = -1;

	get revision(): number {
		return this.#revision;
	}

	get policyRevision(): number {
		return this.#policyRevision;
	}

	/** Takes the newest. */
	update(revision: number, policyRevision: number): void {
		this.#revision = revision;
		this.#policyRevision = policyRevision;
		this.#changes.tell();
	}

	async reached(revision: number, signal?: AbortSignal): Promise<void> {
		while (this.#revision < revision) await this.#changes.next(signal);
	}

	async policyReached(revision: number, signal?: AbortSignal): Promise<void> {
		while (this.#policyRevision < revision) await this.#changes.next(signal);
	}
}
