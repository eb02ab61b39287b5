import type { BatchMember } from './batch.js';
import { type Actor, actorId, callerOf, type KeyHolder } from './caller-check.js';
import type { Scope } from './reading-unit.js';
import type { WritingUnit } from './writing-unit.js';

export interface Committed<T> {
	readonly value: T;
	/** The environment's revision after this write. */
	readonly revision: number;
	/** Lineage to which the revision belongs. */
	readonly lineage: string;
}

/** A unit of work that waits for its turn among the environment's writers, then for the commit. */
export class QueuedWrite<T> implements BatchMember {
	/** Resolves after the commit. Rejects if nothing was committed. */
	readonly outcome: Promise<Committed<T>>;
	readonly actorId: string | null;
	readonly caller: KeyHolder | null;
	#resolve: (outcome: Committed<T>) => void = () => {};
	#reject: (error: unknown) => void = () => {};
	#done: { readonly value: T } | undefined;

	constructor(
		readonly scope: Scope,
		actor: Actor,
		private readonly work: (unit: WritingUnit) => Promise<T>,
	) {
		this.actorId = actorId(actor);
		this.caller = callerOf(actor);
		this.outcome = new Promise((resolve, reject) => {
			this.#resolve = resolve;
			this.#reject = reject;
		});
	}

	async fill(unit: WritingUnit): Promise<void> {
		this.#done = { value: await this.work(unit) };
	}

	committed(revision: number, lineage: string): void {
		if (this.#done === undefined) throw new Error('a unit of work was committed before its work was done');
		this.#resolve({ value: this.#done.value, revision, lineage });
	}

	failed(error: unknown): void {
		this.#reject(error);
	}
}
