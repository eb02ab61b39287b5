/** Events that wait for one receiver: bounded in memory, so that a receiver that is slow or away delays no check. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log.js';

/** Takes events somewhere. */
export interface EventReceiver {
	/** Its name in the log. */
	readonly name: string;
	/** The most events and the most characters of a chunk. */
	readonly maxEvents: number;
	readonly maxLength: number;
	/**
	 * Takes the lines of a chunk. Resolves with the events that the receiver refused, if any. Rejects with `RefusedEvents`
	 * when sending them again would be refused again, with `DeferredEvents` when that may help after a while, and with any
	 * other error when it may help.
	 */
	send(lines: readonly string[], signal: AbortSignal): Promise<PartlyRefused | undefined>;
	close?(): Promise<void>;
}

/** Events of a chunk that a receiver refused while it took the others. */
export interface PartlyRefused {
	readonly refused: number;
	/** The reason, in words. */
	readonly reason: string;
}

/** A receiver takes no events for some seconds. */
export class DeferredEvents extends Error {
	override readonly name = 'DeferredEvents';

	constructor(
		message: string,
		readonly seconds: number,
	) {
		super(message);
	}
}

/** A receiver does not take these events, now or later. */
export class RefusedEvents extends Error {
	override readonly name = 'RefusedEvents';
}

/** How many events a queue has passed on, and how many it lost. */
export interface EventCounts {
	readonly sent: number;
	readonly lost: number;
}

/** Pauses, in milliseconds. */
interface Pace {
	/** How long events are collected. */
	readonly collect: number;
	/** After the first failure; it doubles with each further one. */
	readonly first: number;
	readonly longest: number;
	/** The longest pause that a receiver may ask for. */
	readonly deferred: number;
	/** How long a stop waits for what is left. */
	readonly stop: number;
}

const defaultPace: Pace = { collect: 500, first: 250, longest: 30_000, deferred: 600_000, stop: 2_000 };

/** How many characters of events wait at most. */
const defaultCapacity = 16 * 1024 * 1024;

/** How often losses are logged, in milliseconds. */
const lossInterval = 60_000;

/** Passes events on to one receiver, in order and in chunks. What does not fit is lost, and counted. */
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

	/** How many events were passed on and lost so far. */
	get counts(): EventCounts {
		return { sent: this.#sent, lost: this.#lost };
	}

	/** Starts passing events on. */
	start(): void {
		this.#running ??= this.#run();
	}

	/** Adds an event. */
	push(line: string): void {
		if (this.#length + line.length > this.capacity) {
			this.#lose(1);
			return;
		}
		this.#lines.push(line);
		this.#length += line.length;
		if (this.#length >= this.receiver.maxLength) this.#wake();
	}

	/** Passes on what is left, for a while, and ends. What is left then is lost. */
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

	/** Waits for events to collect, or after failures, at least as long as the receiver asked for. */
	async #pause(failures: number, asked: number): Promise<void> {
		const { collect, first, longest, deferred } = this.#pace;
		const usual = failures === 0 ? collect : Math.min(first * 2 ** (failures - 1), longest);
		const time = Math.max(usual, Math.min(asked, deferred));
		const woken = new AbortController();
		// After a failure only a stop ends the pause.
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
		this.log.error({ receiver: this.receiver.name, events: refused, reason }, 'decisions were refused and are lost');
	}

	#failed(chunk: readonly string[], error: unknown, failures: number): void {
		const { name } = this.receiver;
		if (error instanceof RefusedEvents) {
			this.#lose(chunk.length);
			this.log.error({ error, receiver: name, events: chunk.length }, 'decisions were refused and are lost');
			return;
		}
		this.#lines = [...chunk, ...this.#lines];
		for (const line of chunk) this.#length += line.length;
		if (failures === 1) this.log.warn({ error, receiver: name }, 'decisions cannot be logged and wait');
	}

	#lose(count: number): void {
		this.#lost += count;
	}

	/** Logs what was lost since it was last said, at most once a minute. */
	#tellLoss(last: boolean): void {
		const lost = this.#lost - this.#lostTold;
		if (lost === 0 || (!last && performance.now() - this.#toldAt < lossInterval)) return;
		this.#lostTold = this.#lost;
		this.#toldAt = performance.now();
		this.log.warn({ receiver: this.receiver.name, lost, lost_so_far: this.#lost }, 'decisions were not logged');
	}
}
