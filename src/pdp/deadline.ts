/**
 * Runs with a signal that aborts with `signal` or after `milliseconds`, and leaves no listener or timer behind.
 * `AbortSignal.any` over `AbortSignal.timeout` does not work: Node 20 may collect the timeout, which then never fires.
 */
export async function deadline<T>(
	signal: AbortSignal,
	milliseconds: number,
	run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
	const limited = new AbortController();
	const stop = () => limited.abort();
	const timer = setTimeout(stop, milliseconds);
	signal.addEventListener('abort', stop, { once: true });
	if (signal.aborted) stop();
	try {
		return await run(limited.signal);
	} finally {
		clearTimeout(timer);
		signal.removeEventListener('abort', stop);
	}
}
