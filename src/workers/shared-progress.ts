import { Listeners } from '../pdp/follow/listeners.js';
import { isPast, type Progress, type WantedRevision } from '../pdp/follow/progress.js';
import type { WorkersProgress } from './messages.js';

/** Progress while no worker is included. */
export const noProgress: WorkersProgress = { lineage: '', revision: -1, policyRevision: -1, deleted: false };

/** Progress of all workers, as reported by the leader. */
export class SharedProgress implements Progress {
	readonly #changes = new Listeners<void>();
	#current = noProgress;

	get lineage(): string {
		return this.#current.lineage;
	}

	get revision(): number {
		return this.#current.revision;
	}

	get policyRevision(): number {
		return this.#current.policyRevision;
	}

	/** Newest reported progress. */
	get current(): WorkersProgress {
		return this.#current;
	}

	/** Stores newer progress. */
	update(progress: WorkersProgress): void {
		this.#current = progress;
		this.#changes.tell();
	}

	/** As in `Progress`. Also resolves when the environment is deleted. */
	reached(wanted: WantedRevision, signal?: AbortSignal): Promise<void> {
		return this.#until((current) => isPast(current, wanted), signal);
	}

	/** Like `reached`, but waits for the revision's policy. */
	policyReached(wanted: WantedRevision, signal?: AbortSignal): Promise<void> {
		const isReached = ({ lineage, policyRevision }: WorkersProgress) =>
			isPast({ lineage, revision: policyRevision }, wanted);
		return this.#until(isReached, signal);
	}

	async #until(isReached: (current: WorkersProgress) => boolean, signal: AbortSignal | undefined): Promise<void> {
		while (!this.#current.deleted && !isReached(this.#current)) await this.#changes.next(signal);
	}
}
