/** Timers of the web's kind, which every runtime has. */

/** A timer that `setTimeout` started: an object in Node.js, a number elsewhere. */
export type Timer = ReturnType<typeof setTimeout>;

/** Lets a process of Node.js end before a timer. Elsewhere nothing waits for timers. */
export function unreferenced(timer: Timer): Timer {
	if (typeof timer === 'object') timer.unref();
	return timer;
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
