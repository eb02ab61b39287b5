import { removeEndedInvites } from '../domain/element/ended-invite.js';
import { removeExpiredAssignments } from '../domain/facts/assignment.js';
import { removeExpiredTuples } from '../domain/facts/relationship-tuple.js';
import type { Logger } from '../log.js';
import { rowsPerStatement } from '../store/query/row-chunks.js';
import type { Scope } from '../store/unit/reading-unit.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';

/** Parts of the store that the sweeper uses. */
export interface SweptStore {
	/** Returns the environments with expired grants. */
	expired(): Promise<readonly Scope[]>;
	/** Deletes old console sign-ins, and the keys kept for environments that were deleted long ago. */
	forgetOld(): Promise<void>;
	/** Runs a unit of work on behalf of the server itself. Its changes have no actor. */
	write(scope: Scope, work: (unit: WritingUnit) => Promise<number>): Promise<{ readonly value: number }>;
}

/**
 * Deletes expired grants and ended invites, and logs the changes. Also deletes data about old environments and console
 * sign-ins. The deletions are not urgent, because expired grants have no effect. Each unit of work deletes only a few
 * rows, so it delays other writers no longer than an ordinary write. Several processes may sweep concurrently, because
 * each unit sees earlier deletions.
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
	 * Runs a step and logs its failure. The database may be unavailable or full, or an environment may be deleted
	 * concurrently. The next sweep tries again.
	 */
	async #attempt(step: () => Promise<void>): Promise<void> {
		try {
			await step();
		} catch (error) {
			if (!this.#stopped) this.log.warn({ error }, 'expired grants could not be deleted');
		}
	}

	async #sweepEnvironment(scope: Scope): Promise<void> {
		let swept = 0;
		for (let more = true; more && !this.#stopped; ) {
			const { value } = await this.store.write(scope, removeExpired);
			swept += value;
			more = value >= rowsPerStatement;
		}
		if (swept > 0) this.log.info({ environment: scope.environment_id, swept }, 'expired grants were deleted');
	}
}

/**
 * Deletes expired grants and invites: for each kind, at most as many as fit into a statement. Returns the number of
 * deletions.
 */
async function removeExpired(unit: WritingUnit): Promise<number> {
	const grants = (await removeExpiredAssignments(unit)) + (await removeExpiredTuples(unit));
	return grants + (await removeEndedInvites(unit));
}
