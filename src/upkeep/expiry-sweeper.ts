import { removeEndedInvites } from '../domain/element/ended-invite.js';
import { removeExpiredAssignments } from '../domain/facts/assignment.js';
import { removeExpiredTuples } from '../domain/facts/relationship-tuple.js';
import type { Logger } from '../log.js';
import type { Scope } from '../store/unit/reading-unit.js';
import { rowsPerStatement } from '../store/unit/row-chunks.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';

/** What a sweeper needs of the store. */
export interface SweptStore {
	/** The environments in which expired grants are stored. */
	expired(): Promise<readonly Scope[]>;
	/** Forgets the keys of environments that were deleted long ago, and old sign-ins to the console. */
	forgetOld(): Promise<void>;
	/** Runs a unit of work of the server itself, which has no actor. */
	write(scope: Scope, work: (unit: WritingUnit) => Promise<number>): Promise<{ readonly value: number }>;
}

/**
 * Deletes expired grants from the store, with their changes in the log, and what is remembered of deleted environments and
 * of old sign-ins. Nothing waits for that: what has expired is as if it were not there. Each unit deletes few, so that writers wait for it no longer than for each other; several
 * processes may sweep at once, because a unit sees what those before it deleted.
 */
export class ExpirySweeper {
	#timer: NodeJS.Timeout | null = null;
	#sweeping: Promise<void> = Promise.resolve();
	#stopped = false;

	/** @param pause between two sweeps, in milliseconds. */
	constructor(
		private readonly store: SweptStore,
		private readonly log: Logger,
		private readonly pause = 30_000,
	) {}

	/** Sweeps from now on. */
	start(): void {
		this.#timer = setTimeout(() => {
			this.#sweeping = this.#sweep().finally(() => {
				if (!this.#stopped) this.start();
			});
		}, this.pause).unref();
	}

	/** Ends that; resolves when nothing is being deleted any more. */
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

	/** The database may be away or full, or an environment deleted meanwhile: the next sweep looks again. */
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

/** Deletes some expired grants and invites, at most as many of each kind as one statement takes. Returns how many. */
async function removeExpired(unit: WritingUnit): Promise<number> {
	const grants = (await removeExpiredAssignments(unit)) + (await removeExpiredTuples(unit));
	return grants + (await removeEndedInvites(unit));
}
