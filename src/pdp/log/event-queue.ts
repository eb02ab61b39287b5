/** Event queue for a receiver, with bounded memory, so a slow or absent receiver does not delay checks. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log.js';

/** Receives chunks of events. */
export interface EventReceiver {
	/** Name in log lines. */
	readonly name: string;
	/** Maximum numbers of events and characters per chunk. */
	readonly maxEvents: number;
	readonly maxLength: number;
	/**
	 * Sends a chunk of lines. Resolves with the number of rejected events; `undefined` if there are none. Rejects with
	 * `RefusedEvents` if the events would always be rejected, with `DeferredEvents` if a retry may help after a while,
	 * and
	 * with any other error if a retry may help.
	 */
	send(lines: readonly string[], signal: AbortSignal): Promise<PartlyRefused | undefined>;
	close?(): Promise<void>;
}

/** Events that a receiver rejected while it accepted the rest of the chunk. */
export interface PartlyRefused {
	readonly refused: number;
	/** Human-readable reason. */
	readonly reason: string;
}

/** The receiver accepts no events for some seconds. */
export class DeferredEvents extends Error {
	override readonly name = 'DeferredEvents';

	constructor(
		message: string,
		readonly seconds: number,
	) {
		super(message);
	}
}

/** The receiver will never accept these events. */
export class RefusedEvents extends Error {
	override readonly name = 'RefusedEvents';
}

/** Number of events sent and lost. */
export interface EventCounts {
	readonly sent: number;
	readonly lost: number;
}

/** Pauses, in milliseconds. */
interface Pace {
	/** Time to collect events. */
	readonly collect: number;
	/** Pause after the first failure; doubled after each further failure. */
	readonly first: number;
	readonly longest: number;
	/** Longest pause that a receiver may request. */
	readonly deferred: number;
	/** Time to send remaining events when the process stops. */
	readonly stop: number;
}

const defaultPace: Pace = { collect: 500, first: 250, longest: 30_000, deferred: 600_000, stop: 2_000 };

/** Maximum total length of waiting events, in characters. */
const defaultCapacity = 16 * 1024 * 1024;

/** Minimum time between two log lines about losses, in milliseconds. */
const lossInterval = 60_000;

/** Passes events to a receiver, in order and in chunks. Events that exceed the capacity are lost and counted. */
export class EventQueue {
	readonly #stopping = new AbortController();
	readonly #pace: Pace;
	#lines: string[] = [];
	#length = 0;
	#sent = 0;
	#lost = 0;
	#lostTold = 0;
	#toldAt = Number.NEGATIVE_INFINITY;
	#wake: () => void = () => {};
	#ending = false;
	#running: Promise<void> | undefined;

	constructor(
		private readonly receiver: EventReceiver,
		private readonly log: Logger,
		private readonly capacity = defaultCapacity,
		pace: Partial<Pace> = {},
	) {
		this.#pace = { ...defaultPace, ...pace };
	}

	get counts(): EventCounts {
		return { sent: this.#sent, lost: this.#lost };
	}

	/** Starts passing on events. */
	start(): void {
		this.#running ??= this.#run();
	}

	push(line: string): void {
		if (this.#length + line.length > this.capacity) {
			this.#lose(1);
			return;
		}
		this.#lines.push(line);
		this.#length += line.length;
		if (this.#length >= this.receiver.maxLength) this.#wake();
	}

	/** Passes on remaining events for a limited time, then stops. Events left afterwards are lost. */
	async stop(): Promise<void> {
		this.#ending = true;
		this.#wake();
		const cut = setTimeout(() => this.#stopping.abort(), this.#pace.stop);
		await this.#running;
		clearTimeout(cut);
		this.#lose(this.#lines.length);
		this.#tellLoss(true);
		await this.receiver.close?.();
	}

	async #run(): Promise<void> {
		const { signal } = this.#stopping;
		let failures = 0;
		let deferred = 0;
		while (!signal.aborted && !(this.#ending && this.#lines.length === 0)) {
			if (this.#lines.length === 0 || failures > 0) await this.#pause(failures, deferred);
			else if (!this.#ending && this.#length < this.receiver.maxLength) await this.#pause(0, 0);
			const chunk = this.#take();
			if (chunk.length === 0) continue;
			try {
				this.#passed(chunk, await this.receiver.send(chunk, signal));
				failures = 0;
			} catch (error) {
				failures += 1;
				deferred = error instanceof DeferredEvents ? error.seconds * 1_000 : 0;
				this.#failed(chunk, error, failures);
			}
			this.#tellLoss(false);
		}
	}

	/** Waits while events collect. After failures, waits at least the time requested by the receiver. */
	async #pause(failures: number, asked: number): Promise<void> {
		const { collect, first, longest, deferred } = this.#pace;
		const usual = failures === 0 ? collect : Math.min(first * 2 ** (failures - 1), longest);
		const time = Math.max(usual, Math.min(asked, deferred));
		const woken = new AbortController();
		// After a failure, only a stop ends the pause.
		this.#wake = () => {
			if (failures === 0 || this.#ending) woken.abort();
		};
		if (this.#ending && failures === 0) return;
		const ended = AbortSignal.any([woken.signal, this.#stopping.signal]);
		await sleep(time, undefined, { signal: ended, ref: false }).catch(() => undefined);
		this.#wake = () => {};
	}

	#take(): readonly string[] {
		const { maxEvents, maxLength } = this.receiver;
		let length = 0;
		let count = 0;
		for (const line of this.#lines) {
			if (count === maxEvents || (count > 0 && length + line.length > maxLength)) break;
			length += line.length;
			count += 1;
		}
		const chunk = this.#lines.slice(0, count);
		this.#lines = this.#lines.slice(count);
		this.#length -= length;
		return chunk;
	}

	#passed(chunk: readonly string[], partly: PartlyRefused | undefined): void {
		const { refused, reason } = partly ?? { refused: 0, reason: '' };
		this.#sent += chunk.length - refused;
		if (refused === 0) return;
		this.#lose(refused);
		this.log.error({ receiver: this.receiver.name, events: refused, reason }, 'decisions were rejected and are lost');
	}

	#failed(chunk: readonly string[], error: unknown, failures: number): void {
		const { name } = this.receiver;
		if (error instanceof RefusedEvents) {
			this.#lose(chunk.length);
			this.log.error({ error, receiver: name, events: chunk.length }, 'decisions were rejected and are lost');
			return;
		}
		this.#lines = [...chunk, ...this.#lines];
		for (const line of chunk) this.#length += line.length;
		if (failures === 1) this.log.warn({ error, receiver: name }, 'decisions cannot be logged and are waiting');
	}

	#lose(count: number): void {
		this.#lost += count;
	}

	/** Logs losses since the last report, at most once a minute. */
	#tellLoss(last: boolean): void {
		const lost = this.#lost - this.#lostTold;
		if (lost === 0 || (!last && performance.now() - this.#toldAt < lossInterval)) return;
		this.#lostTold = this.#lost;
		this.#toldAt = performance.now();
		this.log.warn({ receiver: this.receiver.name, lost, lost_so_far: this.#lost }, 'decisions were not logged');
	}
}
