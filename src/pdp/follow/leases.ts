/** Tracks who reads one state over several turns of the event loop, and what a change of that state does about it. */

import { pause } from './timer.js';

/**
 * The kind of a reader. A `batch` is short: a change waits for it, and then proceeds without it. A `listing` is long: a
 * change is made in a copy, and the listing keeps the old state.
 */
export type ReaderKind = 'batch' | 'listing';

/** The right to read a state until it is released or lost. */
export interface Lease {
	/** Whether the state has changed, so that the reader must start again. */
	readonly lost: boolean;
	release(): void;
}

/** How a change may be made: in the state itself, which nobody reads any more, or in a copy. */
export type Manner = 'in place' | 'in a copy';

/** How long a change waits for batches at most, in milliseconds. */
const batchPatience = 1_000;

interface Reader extends Lease {
	lost: boolean;
	readonly kind: ReaderKind;
	/** Whether it keeps its state when a change comes. */
	readonly keeps: boolean;
}

/** Resolves after so many milliseconds, or when the signal aborts. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

/**
 * The readers of one replica. INVARIANT: the state that a reader reads does not change before its lease is lost, and
 * listings never keep two old states. A listing that begins beside an old state does not keep its own; when it loses
 * that, it waits until it may keep one.
 */
export class Leases {
	/** Readers of the current state. */
	readonly #current = new Set<Reader>();
	/** Readers of replaced states. */
	readonly #old = new Set<Reader>();
	readonly #sleep: Sleep;
	/** Set while a change waits. New readers wait for it. */
	#gate: Signal | undefined;
	/** Wakes those who wait for readers to leave. */
	#left = new Signal();

	constructor(sleep: Sleep = pause) {
		this.#sleep = sleep;
	}

	/** How many readers there are. */
	get size(): number {
		return this.#current.size + this.#old.size;
	}

	/**
	 * Begins to read the current state. `again` means that a listing has lost its state before: then it waits until it
	 * can keep the next one.
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
	 * Prepares a change of the current state and says how to make it. When it says `in place`, no reader begins until
	 * `changed` is called. A copy takes about `copying` milliseconds: the change waits that long for listings that are
	 * about to end, since copying would take as long.
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

	/** Another state has replaced the current one. Its readers now read an old state, if there was none before. */
	replaced(): void {
		if (this.#old.size > 0) this.lose();
		for (const reader of this.#current) this.#old.add(reader);
		this.#current.clear();
	}

	/** Ends the change that `settle` prepared, whether or not it succeeded. */
	changed(): void {
		this.#gate?.raise();
		this.#gate = undefined;
	}

	/** Ends the leases of all readers of the current state. */
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

	/** Resolves when nobody reads the current state any more, or after so many milliseconds. */
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

/** An event that happens once. */
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
