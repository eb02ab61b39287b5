import type { EventLog } from '../../log.js';

/**
 * Tolerated clock difference in milliseconds. Responses contain the time in whole seconds and take a while to arrive.
 */
const tolerated = 60_000;

/** Compares the local clock with the control plane's clock, and logs a difference above a minute. */
export class ClockComparison {
	#ahead = 0;

	constructor(
		private readonly log: EventLog,
		private readonly now: () => number = Date.now,
	) {}

	/**
	 * Number of seconds by which the local clock is ahead; negative if it is behind, and 0 if the difference is within a
	 * minute.
	 */
	get secondsAhead(): number {
		return this.#ahead;
	}

	/** Updates the difference from the `date` header in a control plane response. */
	note({ headers }: Pick<Response, 'headers'>): void {
		const difference = this.now() - Date.parse(headers.get('date') ?? '');
		if (Number.isNaN(difference)) return;
		const ahead = Math.abs(difference) > tolerated ? Math.round(difference / 1_000) : 0;
		const hasChanged = Math.abs(ahead - this.#ahead) > tolerated / 1_000 || (ahead === 0) !== (this.#ahead === 0);
		this.#ahead = ahead;
		if (!hasChanged) return;
		if (ahead === 0) {
			this.log.info('the clock agrees with the clock of the control plane again');
			return;
		}
		const [direction, consequence] =
			ahead > 0 ? ['ahead of', 'early, and the control plane may reject decisions'] : ['behind', 'late'];
		const minutes = Math.round(Math.abs(ahead) / 60);
		this.log.error(
			{ seconds_ahead: ahead },
			`the clock is ${minutes} min ${direction} the clock of the control plane: grants end too ${consequence}`,
		);
	}
}
