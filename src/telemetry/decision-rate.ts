/** Minimum period for a rate in milliseconds, because two reports may follow each other immediately. */
const shortest = 10_000;

/** Decision count at a time, in milliseconds on the monotonic clock. */
interface Reading {
	readonly count: number;
	readonly at: number;
}

/** Decisions per second between reports. The first period begins at construction. */
export class DecisionRate {
	/** Start of the period for the next rate. */
	#from: Reading;
	/** Last report that ended a period. */
	#last: Reading;

	constructor(
		/** Returns the decision count so far. */
		private readonly count: () => number,
		private readonly now = () => performance.now(),
	) {
		this.#from = this.#read();
		this.#last = this.#from;
	}

	/**
	 * Returns the decisions per second since the last report, rounded to one decimal. If the last report is less than
	 * ten seconds old, counts from the report before it. The first rate counts from construction. The period is at least
	 * one second.
	 */
	report(): number {
		const reading = this.#read();
		if (reading.at - this.#last.at >= shortest) {
			this.#from = this.#last;
			this.#last = reading;
		}
		const seconds = Math.max(1, (reading.at - this.#from.at) / 1_000);
		return Math.round((Math.max(0, reading.count - this.#from.count) / seconds) * 10) / 10;
	}

	#read(): Reading {
		return { count: this.count(), at: this.now() };
	}
}
