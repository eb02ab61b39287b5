import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Interval and time limit for `eventually`. */
export interface Patience {
	/**
	 * Time limit in milliseconds. It is generous, so tests do not fail on a busy machine: a first compilation took more
	 * than 30 seconds while other test processes started. It is shorter than AVA's timeout, whose message names no
	 * reason.
	 */
	readonly deadline?: number;
	/** Milliseconds between two attempts. */
	readonly interval?: number;
}

/**
 * Calls `look` until its result satisfies the predicate, and returns the result. Repeats attempts that throw. At the
 * deadline, throws an error with the last result.
 *
 * @example const answer = await eventually(() => pdp.post('/allowed', query), (seen) => seen.body.allow);
 */
export async function eventually<T>(
	look: () => T | Promise<T>,
	satisfies: (seen: T) => unknown = Boolean,
	{ deadline = 100_000, interval = 25 }: Patience = {},
): Promise<T> {
	const end = performance.now() + deadline;
	let last: unknown;
	do {
		try {
			const seen = await look();
			if (satisfies(seen)) return seen;
			last = seen;
		} catch (error) {
			last = error;
		}
		await sleep(interval);
	} while (performance.now() < end);
	throw new Error(`not within ${deadline} ms; seen last: ${inspect(last, { depth: 6 })}`);
}
