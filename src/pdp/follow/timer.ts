/** Web-compatible timers, available in every runtime. */

/** A timer started by `setTimeout`. It is an object in Node.js, and a number in other runtimes. */
export type Timer = ReturnType<typeof setTimeout>;

/** Lets a Node.js process end before the timer fires. In other runtimes, timers do not keep the program running. */
export function unreferenced(timer: Timer): Timer {
	if (typeof timer === 'object') timer.unref();
	return timer;
}

/** Longest timer delay, in milliseconds. Timers with a longer delay fire immediately. */
const longestDelay = 2 ** 31 - 1;

/** Clamps a delay in milliseconds to the range that timers support. */
export function possibleDelay(milliseconds: number): number {
	return Math.min(Math.max(milliseconds, 0), longestDelay);
}

/** Resolves after the given milliseconds, or immediately when the signal aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const end = () => {
			clearTimeout(timer);
			signal.removeEventListener('abort', end);
			resolve();
		};
		const timer = setTimeout(end, milliseconds);
		signal.addEventListener('abort', end);
		if (signal.aborted) end();
	});
}
