/** Decision log: selects the decisions to log, writes their events, and passes them to every receiver. */

import type { SamplingRule } from '../../config.js';
import type { Logger } from '../../log.js';
import { type EventLabels, eventLine, type LoggedDecision, type MaskedPath } from './decision-event.js';
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

/** Logs decisions without ever delaying a decision. */
export class DecisionLog {
	readonly #queues: readonly (readonly [name: string, queue: EventQueue])[];
	readonly #random: () => number;
	/** Cached from the first event, because finding the machine's name takes longer than a decision. */
	#labels: EventLabels | undefined;
	#sampledOut = 0;

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
	add(decision: LoggedDecision): void {
		const { sampling, labels, masks } = this.options;
		const rate = samplingRate(sampling, decision.input, decision.code);
		if (rate < 1 && this.#random() >= rate) {
			this.#sampledOut += 1;
			return;
		}
		this.#labels ??= labels();
		const line = eventLine(decision, this.#labels, masks);
		for (const [, queue] of this.#queues) queue.push(line);
	}

	/** Passes on remaining events for a limited time, then ends. */
	async stop(): Promise<void> {
		await Promise.all(this.#queues.map(([, queue]) => queue.stop()));
	}
}
