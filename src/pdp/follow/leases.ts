/** Tracks readers that keep a state over several turns of the event loop, and coordinates them with state changes. */

import { pause } from './timer.js';

/**
 * Reader kind. A `batch` is short, so a change waits until the batch ends, for a limited time. A `listing` is long, so
 * the change is made in a copy, and the listing keeps the old state.
 */
export type ReaderKind = 'batch' | 'listing';

/** Right to read a state until the lease is released or lost. */
export interface Lease {
	/** True if the reader may no longer use its state and must start again. */
	readonly lost: boolean;
	release(): void;
}

/** How to apply a change: in place, because there are no readers, or to a copy. */
export type Manner = 'in place' | 'in a copy';

/** Maximum time a change waits for batches, in milliseconds. */
const batchPatience = 1_000;

interface Reader extends Lease {
	lost: boolean;
	readonly kind: ReaderKind;
	/** True if the reader keeps its state when a change is made. */
	readonly keeps: boolean;
}

/** Resolves after the given milliseconds, or when the signal aborts. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

/**
 * Readers for one replica. INVARIANT: a state does not change before its readers lose their leases, and listings never
 * keep two old states. A listing that begins while an old state is still in use does not keep its own state. When this
 * listing loses its state, it waits until it may keep the next state.
 */
export class Leases {
	/** Readers of the current state. */
	readonly #current = new Set<Reader>();
	/** Readers of replaced states. */
	readonly #old = new Set<Reader>();
	readonly #sleep: Sleep;
	/** Set while a change waits for readers or is applied. New readers wait until it is raised. */
	#gate: Signal | undefined;
	/** Raised when a reader leaves. */
	#left = new Signal();

	constructor(sleep: Sleep = pause) {
		this.#sleep = sleep;
	}

	get size(): number {
		return this.#current.size + this.#old.size;
	}

	/**
	 * Starts reading the current state. `again` is true if the listing has already lost a state. The listing then waits
	 * until it can keep the next state.
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
	 * Prepares a state change and returns how to make it. After `in place`, no reader begins until `changed` is called. A
	 * copy takes about `copying` milliseconds, so the change first waits this long for listings to end.
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

	/**
	 * Called when a new state has replaced the current state. Current readers now read an old state, or lose their leases
	 * if an old state was already kept.
	 */
	replaced(): void {
		if (this.#old.size > 0) this.lose();
		for (const reader of this.#current) this.#old.add(reader);
		this.#current.clear();
	}

	/** Ends the change prepared by `settle`, whether or not it succeeded. */
	changed(): void {
		this.#gate?.raise();
		this.#gate = undefined;
	}

	/** Ends all leases on the current state. */
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

	/** Resolves when the current state has no readers, or after the given milliseconds. */
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
