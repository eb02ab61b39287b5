import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns the value of `work`, or `late` if `work` takes longer than `milliseconds`. Rejects if `work` rejects within
 * this time.
 */
export async function valueInTime<T, U>(work: Promise<T>, milliseconds: number, late: U): Promise<T | U> {
	const settled = new AbortController();
	const tooLate = sleep(milliseconds, late, { signal: settled.signal }).catch(() => late);
	return Promise.race([work, tooLate]).finally(() => settled.abort());
}
