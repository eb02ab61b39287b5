/** Timers of the web's kind, which every runtime has. */

/** A timer that `setTimeout` started: an object in Node.js, a number elsewhere. */
export type Timer = ReturnType<typeof setTimeout>;

/** Lets a process of Node.js end before a timer. Elsewhere nothing waits for timers. */
export function unreferenced(timer: Timer): Timer {
	if (typeof timer === 'object') timer.unref();
	return timer;
}

/** The longest delay that timers take, in milliseconds: beyond it they fire at once. */
const longestDelay = 2 ** 31 - 1;

/** The delay that comes closest to what somebody wants, in milliseconds. */
export function possibleDelay(milliseconds: number): number {
	return Math.min(Math.max(milliseconds, 0), longestDelay);
}

/** Resolves after so many milliseconds, or at once when the signal aborts. */
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
