import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** How often and how long `eventually` looks. */
export interface Patience {
	/**
	 * Milliseconds until it gives up. Generous, because a busy machine must not fail a test: a first compilation, while
	 * other processes of tests begin, took more than thirty seconds. Less than AVA's own limit, which names no reason.
	 */
	readonly deadline?: number;
	/** Milliseconds between two looks. */
	readonly interval?: number;
}

/**
 * Looks again and again until what it sees satisfies, and returns that. A look that throws is a look that does not
 * satisfy yet. Throws at the deadline, naming what it saw last.
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
