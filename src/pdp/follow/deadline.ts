/**
 * Calls `run` with a signal that aborts when `signal` aborts or after `milliseconds`. Leaves no listener or timer
 * behind. `restart` restarts the timer with a new duration in milliseconds. `AbortSignal.any` with
 * `AbortSignal.timeout` does not work, because Node 20 may garbage-collect the timeout signal, which then never aborts.
 */
export async function deadline<T>(
	signal: AbortSignal,
	milliseconds: number,
	run: (signal: AbortSignal, restart: (milliseconds: number) => void) => Promise<T>,
): Promise<T> {
	const limited = new AbortController();
	const stop = () => limited.abort();
	const expireAfter = (time: number) =>
		setTimeout(() => limited.abort(new Error(`no data arrived for ${time} ms`)), time);
	let timer = expireAfter(milliseconds);
	const restart = (more: number) => {
		clearTimeout(timer);
		timer = expireAfter(more);
	};
	signal.addEventListener('abort', stop, { once: true });
	if (signal.aborted) stop();
	try {
		return await run(limited.signal, restart);
	} finally {
		clearTimeout(timer);
		signal.removeEventListener('abort', stop);
	}
}
