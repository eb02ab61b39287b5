/** The shortest time that a rate is told of, in milliseconds: two reports may follow each other at once. */
const shortest = 10_000;

/** How many decisions there were up to a moment, in milliseconds of the monotonic clock. */
interface Reading {
	readonly count: number;
	readonly at: number;
}

/** How many decisions a decision point makes a second, from one report to the next. It begins when it is made. */
export class DecisionRate {
	/** Where the time begins that the next rate is of. */
	#from: Reading;
	/** The last report that ended such a time. */
	#last: Reading;

	constructor(
		/** How many decisions there were so far. */
		private readonly count: () => number,
		private readonly now = () => performance.now(),
	) {
		this.#from = this.#read();
		this.#last = this.#from;
	}

	/**
	 * Decisions a second since the last report, to one decimal. Where that was less than ten seconds ago, since the one
	 * before it; at the start since then, of which less than a second counts as one.
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
