/** Decision log: selects the decisions to log, writes their events, and passes them to every receiver. */

import type { SamplingRule } from '../../config.js';
import type { Logger } from '../../log.js';
import type { DecisionKind } from '../../wire/decision/filter.js';
import type { EngineInput } from '../engine/engine.js';
import { type EventLabels, EventWriter, type MaskedPath } from './decision-event.js';
import { DecisionRing, type LoggedDecision, type LoggedRequest } from './decision-ring.js';
import { type EventCounts, EventQueue, type EventReceiver } from './event-queue.js';
import { samplingRate } from './sampling-rate.js';

export interface DecisionLogOptions {
	readonly receivers: readonly EventReceiver[];
	readonly sampling: readonly SamplingRule[];
	readonly masks: readonly MaskedPath[];
	/** Called with the first event. */
	readonly labels: () => EventLabels;
	readonly log: Logger;
	/** Returns a random number from 0 up to 1; `Math.random` by default. */
	readonly random?: () => number;
}

/** Decision counts so far. */
export interface DecisionCounts {
	/** Decisions dropped by sampling. */
	readonly sampled_out: number;
	/** Event counts, keyed by receiver name. */
	readonly receivers: Readonly<Record<string, EventCounts>>;
}

/**
 * Maximum number of decisions whose events are not written yet. These decisions keep the bodies of their requests in
 * memory.
 */
const capacity = 1_024;
/** Number of events written between clock reads, and time per turn in milliseconds. */
const stride = 32;
const slice = 1;

/**
 * Logs decisions without ever delaying a decision: a check only adds its decision to a ring. Between requests, the log
 * takes decisions out of the ring, selects and masks them, and writes their events, in slices. If the ring is full, the
 * log does this immediately, so no decision is lost before it reaches a receiver's queue.
 */
export class DecisionLog {
	readonly #queues: readonly (readonly [name: string, queue: EventQueue])[];
	readonly #random: () => number;
	readonly #ring = new DecisionRing(capacity);
	/** Created with the first event, because finding the machine's name takes longer than a decision. */
	#writer: EventWriter | undefined;
	#sampledOut = 0;
	#writing = false;

	constructor(private readonly options: DecisionLogOptions) {
		this.#queues = options.receivers.map((receiver) => [receiver.name, new EventQueue(receiver, options.log)]);
		this.#random = options.random ?? Math.random;
	}

	/** Starts passing on events. */
	start(): void {
		for (const [, queue] of this.#queues) queue.start();
	}

	/** Decision counts so far. */
	get counts(): DecisionCounts {
		const receivers = Object.fromEntries(this.#queues.map(([name, queue]) => [name, queue.counts]));
		return { sampled_out: this.#sampledOut, receivers };
	}

	/** Logs a decision if sampling selects it. */
	add(
		input: EngineInput,
		code: string,
		duration: number,
		index: number | undefined,
		request: LoggedRequest,
		kind: DecisionKind = 'check',
	): void {
		if (this.#ring.length === capacity) this.#write(stride);
		this.#ring.add(input, code, duration, index, request, kind);
		this.#writeSoon();
	}

	/** Passes on remaining events for a limited time, then stops. */
	async stop(): Promise<void> {
		this.#write(this.#ring.length);
		await Promise.all(this.#queues.map(([, queue]) => queue.stop()));
	}

	/** Writes after the responses of the current turn. A request's response is queued only after its decision. */
	#writeSoon(): void {
		if (this.#writing) return;
		this.#writing = true;
		process.nextTick(setImmediate, this.#writeSlice);
	}

	readonly #writeSlice = (): void => {
		this.#writing = false;
		const end = performance.now() + slice;
		do this.#write(stride);
		while (this.#ring.length > 0 && performance.now() < end);
		if (this.#ring.length > 0) this.#writeSoon();
	};

	/** Writes the events of the oldest decisions. */
	#write(count: number): void {
		for (let left = Math.min(count, this.#ring.length); left > 0; left -= 1) this.#ring.take(this.#writeEvent);
	}

	readonly #writeEvent = (decision: LoggedDecision): void => {
		const { sampling, labels, masks } = this.options;
		const rate = samplingRate(sampling, decision.input, decision.code);
		if (rate < 1 && this.#random() >= rate) {
			this.#sampledOut += 1;
			return;
		}
		this.#writer ??= new EventWriter(labels(), masks);
		const line = this.#writer.line(decision);
		for (const [, queue] of this.#queues) queue.push(line);
	};
}
