/** Event queue for a receiver, with bounded memory, so a slow or absent receiver does not delay checks. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log.js';

/** Events as JSON lines in UTF-8. Each line ends with a newline. */
export interface EventChunk {
	readonly bytes: Uint8Array;
	readonly events: number;
}

/** Receives chunks of events. */
export interface EventReceiver {
	/** Name in log lines. */
	readonly name: string;
	/** Maximum numbers of events and bytes per chunk. A single event may be longer. */
	readonly maxEvents: number;
	readonly maxLength: number;
	/**
	 * Sends a chunk. Resolves with the number of rejected events; `undefined` if there are none. Rejects with
	 * `RefusedEvents` if a retry would fail too, with `DeferredEvents` if a retry may succeed after a while, and with any
	 * other error if a retry may succeed at any time.
	 */
	send(chunk: EventChunk, signal: AbortSignal): Promise<PartlyRefused | undefined>;
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

/** Maximum total length of waiting events, in bytes. */
const defaultCapacity = 16 * 1024 * 1024;

/** Maximum size of a buffer for events, in bytes. A longer event gets a separate buffer. */
const maxBufferSize = 1024 * 1024;

/** Maximum number of buffers to keep for later events. Under load, one is open, one is full, and one is being sent. */
const maxSpare = 3;

const noBuffer: Buffer = Buffer.alloc(0);

const newline = 0x0a;

/** Minimum time between two log lines about losses, in milliseconds. */
const lossInterval = 60_000;

/** Chunk with its whole buffer. The queue reuses the buffer after the chunk was sent. */
interface QueuedChunk extends EventChunk {
	readonly buffer: Buffer;
}

/**
 * Passes events to a receiver, in order and in chunks. Events that exceed the capacity are lost and counted. Events
 * wait as bytes: the garbage collector copies waiting strings, which takes longer than writing them. Buffers are
 * reused, because the memory of new buffers makes V8 collect all garbage several times per second.
 */
export class EventQueue {
	readonly #stopping = new AbortController();
	readonly #pace: Pace;
	/** Waiting chunks, before the events in the open buffer. */
	#chunks: QueuedChunk[] = [];
	#buffer = noBuffer;
	/** Buffers of sent chunks. */
	readonly #spare: Buffer[] = [];
	/** Numbers of bytes and events in the open buffer. */
	#used = 0;
	#buffered = 0;
	/** Total length of waiting events in bytes. */
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

	/** Adds an event, as JSON in a single line. */
	push(line: string): void {
		// A UTF-16 code unit has at most three bytes in UTF-8.
		this.#reserve(3 * line.length + 1, 1);
		const written = this.#buffer.write(line, this.#used) + 1;
		if (this.#length + written > this.capacity) {
			this.#lose(1);
			return;
		}
		this.#buffer[this.#used + written - 1] = newline;
		this.#added(written, 1);
	}

	/** Adds the events of a chunk that does not exceed the receiver's limits. */
	pushChunk({ bytes, events }: EventChunk): void {
		if (this.#length + bytes.length > this.capacity) {
			this.#lose(events);
			return;
		}
		this.#reserve(bytes.length, events);
		this.#buffer.set(bytes, this.#used);
		this.#added(bytes.length, events);
	}

	#added(bytes: number, events: number): void {
		this.#used += bytes;
		this.#buffered += events;
		this.#length += bytes;
		if (this.#length >= this.receiver.maxLength) this.#wake();
	}

	/** Opens a new buffer unless `events` more events with at most `most` bytes fit in the open buffer. */
	#reserve(most: number, events: number): void {
		const { maxEvents, maxLength } = this.receiver;
		const left = Math.min(this.#buffer.length, maxLength) - this.#used;
		if (most > left || this.#buffered + events > maxEvents) this.#closeBuffer();
		if (this.#buffer !== noBuffer) return;
		const [spare, size] = [this.#spare.pop(), Math.max(Math.min(maxBufferSize, maxLength), most)];
		this.#buffer = spare !== undefined && spare.length >= most ? spare : Buffer.allocUnsafeSlow(size);
	}

	/** Moves the events in the open buffer to the chunks. */
	#closeBuffer(): void {
		if (this.#buffered > 0) {
			const bytes = this.#buffer.subarray(0, this.#used);
			this.#chunks.push({ bytes, events: this.#buffered, buffer: this.#buffer });
		}
		this.#buffer = noBuffer;
		this.#used = 0;
		this.#buffered = 0;
	}

	/** Passes on remaining events for a limited time, then stops. Events left afterwards are lost. */
	async stop(): Promise<void> {
		this.#ending = true;
		this.#wake();
		const cut = setTimeout(() => this.#stopping.abort(), this.#pace.stop);
		await this.#running;
		clearTimeout(cut);
		this.#closeBuffer();
		for (const { events } of this.#chunks) this.#lose(events);
		this.#tellLoss(true);
		await this.receiver.close?.();
	}

	async #run(): Promise<void> {
		const { signal } = this.#stopping;
		let failures = 0;
		let deferred = 0;
		while (!signal.aborted && !(this.#ending && this.#length === 0)) {
			if (this.#length === 0 || failures > 0) await this.#pause(failures, deferred);
			else if (!this.#ending && this.#length < this.receiver.maxLength) await this.#pause(0, 0);
			const chunk = this.#take();
			if (chunk === undefined) continue;
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

	/**
	 * Removes the oldest chunk. The open buffer is a chunk only if no other chunk waits, because it may get more events.
	 */
	#take(): QueuedChunk | undefined {
		if (this.#chunks.length === 0) this.#closeBuffer();
		const chunk = this.#chunks.shift();
		this.#length -= chunk?.bytes.length ?? 0;
		return chunk;
	}

	#passed(chunk: QueuedChunk, partly: PartlyRefused | undefined): void {
		if (this.#spare.length < maxSpare) this.#spare.push(chunk.buffer);
		const { refused, reason } = partly ?? { refused: 0, reason: '' };
		this.#sent += chunk.events - refused;
		if (refused === 0) return;
		this.#lose(refused);
		this.log.error({ receiver: this.receiver.name, events: refused, reason }, 'decisions were rejected and are lost');
	}

	#failed(chunk: QueuedChunk, error: unknown, failures: number): void {
		const { name } = this.receiver;
		if (error instanceof RefusedEvents) {
			this.#lose(chunk.events);
			this.log.error({ error, receiver: name, events: chunk.events }, 'decisions were rejected and are lost');
			return;
		}
		this.#chunks.unshift(chunk);
		this.#length += chunk.bytes.length;
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
