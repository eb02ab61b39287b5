/** Who reads one state over several turns of the event loop, and what a change of that state does about it. */

import { setTimeout as timeout } from 'node:timers/promises';

/**
 * What a reader is. A `batch` is short: a change waits for it, and then goes on without it. A `listing` is long: a
 * change goes on beside it, in a copy, and the listing keeps the old state.
 */
export type ReaderKind = 'batch' | 'listing';

/** The right to read a state until it is released or lost. */
export interface Lease {
	/** Whether the state has changed under the reader, who must begin anew. */
	readonly lost: boolean;
	release(): void;
}

/** How a change may be made: in the state itself, which nobody reads any more, or in a copy of it. */
export type Manner = 'in place' | 'in a copy';

/** How long a change waits for batches at most, in milliseconds. */
const batchPatience = 1_000;

interface Reader extends Lease {
	lost: boolean;
	readonly kind: ReaderKind;
	/** Whether changes leave it its state. */
	readonly keeps: boolean;
}

/** Resolves after so many milliseconds, or when the signal aborts. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

const sleeping: Sleep = (milliseconds, signal) => timeout(milliseconds, undefined, { signal }).catch(() => undefined);

/**
 * The readers of one replica.
 * INVARIANT: what a reader reads does not change until its lease is lost, and there are never two old states that
 * listings keep: a listing that begins beside an old state keeps none, and one that then loses its state waits until it
 * may keep one.
 */
export class Leases {
	/** Of the state in force. */
	readonly #current = new Set<Reader>();
	/** Of states that were replaced. */
	readonly #old = new Set<Reader>();
	readonly #sleep: Sleep;
	/** Set while a change waits: readers who come later wait for it. */
	#gate: Signal | undefined;
	/** Wakes who waits for readers to go. */
	#left = new Signal();

	constructor(sleep: Sleep = sleeping) {
		this.#sleep = sleep;
	}

	/** How many readers there are. */
	get size(): number {
		return this.#current.size + this.#old.size;
	}

	/**
	 * Begins to read the state that is in force when it resolves. With `again` a listing has lost its state before, and
	 * waits until it keeps the next one.
	 */
	async take(kind: ReaderKind, again = false): Promise<Lease> {
		for (;;) {
			if (this.#gate !== undefined) await this.#gate.raised;
			else if (kind === 'listing' && again && this.#old.size > 0) await this.#left.raised;
			else break;
		}
		const reader: Reader = {
			lost: false,
			kind,
			keeps: kind === 'listing' && this.#old.size === 0,
			release: () => this.#release(reader),
		};
		this.#current.add(reader);
		return reader;
	}

	/**
	 * Asks before the state in force is changed, and says how. When it says `in place`, no reader begins until `changed`
	 * is called. To copy takes about `copying` milliseconds: a change waits that long for listings that are about to end,
	 * for it would take no less without them.
	 */
	async settle(copying: number): Promise<Manner> {
		this.#gate = new Signal();
		for (const reader of this.#current) if (reader.kind === 'listing' && !reader.keeps) this.#take(reader);
		if (this.#isKept()) await this.#gone(copying);
		if (this.#isKept()) {
			this.changed();
			return 'in a copy';
		}
		await this.#gone(batchPatience);
		this.lose();
		return 'in place';
	}

	/** Another state took the place of the one in force, whose readers read an old one now, if there is none yet. */
	replaced(): void {
		if (this.#old.size > 0) this.lose();
		for (const reader of this.#current) this.#old.add(reader);
		this.#current.clear();
	}

	/** The change that `settle` was asked for is over, whatever came of it. */
	changed(): void {
		this.#gate?.raise();
		this.#gate = undefined;
	}

	/** Takes the state in force from all who read it. */
	lose(): void {
		for (const reader of this.#current) this.#take(reader);
	}

	#take(reader: Reader): void {
		reader.lost = true;
		this.#release(reader);
	}

	#isKept(): boolean {
		return [...this.#current].some(({ keeps }) => keeps);
	}

	/** Resolves when nobody reads the state in force any more, or after so many milliseconds. */
	async #gone(milliseconds: number): Promise<void> {
		if (this.#current.size === 0) return;
		const over = new AbortController();
		const time = this.#sleep(milliseconds, over.signal).then(() => over.abort());
		while (this.#current.size > 0 && !over.signal.aborted) await Promise.race([this.#left.raised, time]);
		over.abort();
	}

	#release(reader: Reader): void {
		this.#current.delete(reader);
		this.#old.delete(reader);
		this.#wake();
	}

	#wake(): void {
		this.#left.raise();
		this.#left = new Signal();
	}
}

/** Something that happens once. */
class Signal {
	readonly raised: Promise<void>;
	#resolve: () => void = () => undefined;

	constructor() {
		this.raised = new Promise((resolve) => {
			this.#resolve = resolve;
		});
	}

	raise(): void {
		this.#resolve();
	}
}
