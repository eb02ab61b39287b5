import { removeEndedInvites } from '../domain/element/ended-invite.js';
import { removeExpiredAssignments } from '../domain/facts/assignment.js';
import { removeExpiredTuples } from '../domain/facts/relationship-tuple.js';
import type { Logger } from '../log.js';
import type { Scope } from '../store/unit/reading-unit.js';
import { rowsPerStatement } from '../store/unit/row-chunks.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';

/** Store interface for the sweeper. */
export interface SweptStore {
	/** Environments with expired grants. */
	expired(): Promise<readonly Scope[]>;
	/** Forgets keys in environments that were deleted long ago, and old console sign-ins. */
	forgetOld(): Promise<void>;
	/** Runs a unit of work for the server itself, which has no actor. */
	write(scope: Scope, work: (unit: WritingUnit) => Promise<number>): Promise<{ readonly value: number }>;
}

/**
 * Deletes expired grants and logs the changes. Also deletes data about old environments and console sign-ins. This work
 * is not urgent: expired grants have no effect. Each unit deletes few rows, so it delays writers no longer than other
 * writes do. Several processes may sweep concurrently, because a unit sees earlier deletions.
 */
export class ExpirySweeper {
	#timer: NodeJS.Timeout | null = null;
	#sweeping: Promise<void> = Promise.resolve();
	#stopped = false;

	/** @param pause milliseconds between sweeps. */
	constructor(
		private readonly store: SweptStore,
		private readonly log: Logger,
		private readonly pause = 30_000,
	) {}

	/** Starts sweeping. */
	start(): void {
		this.#timer = setTimeout(() => {
			this.#sweeping = this.#sweep().finally(() => {
				if (!this.#stopped) this.start();
			});
		}, this.pause).unref();
	}

	/** Stops sweeping. Resolves when no deletion is running. */
	async stop(): Promise<void> {
		this.#stopped = true;
		if (this.#timer !== null) clearTimeout(this.#timer);
		await this.#sweeping;
	}

	async #sweep(): Promise<void> {
		await this.#attempt(() => this.store.forgetOld());
		await this.#attempt(async () => {
			for (const scope of await this.store.expired()) await this.#attempt(() => this.#sweepEnvironment(scope));
		});
	}

	/**
	 * Runs a step. The database may be away or full, or an environment may be deleted concurrently: the next sweep
	 * retries.
	 */
	async #attempt(step: () => Promise<void>): Promise<void> {
		try {
			await step();
		} catch (error) {
			if (!this.#stopped) this.log.warn({ error }, 'what has expired could not be swept');
		}
	}

	async #sweepEnvironment(scope: Scope): Promise<void> {
		let swept = 0;
		for (let more = true; more && !this.#stopped; ) {
			const { value } = await this.store.write(scope, removeExpired);
			swept += value;
			more = value >= rowsPerStatement;
		}
		if (swept > 0) this.log.info({ environment: scope.environment_id, swept }, 'expired grants were swept');
	}
}

/** Deletes some expired grants and invites, at most as many per kind as fit into a statement. Returns their number. */
async function removeExpired(unit: WritingUnit): Promise<number> {
	const grants = (await removeExpiredAssignments(unit)) + (await removeExpiredTuples(unit));
	return grants + (await removeEndedInvites(unit));
}
