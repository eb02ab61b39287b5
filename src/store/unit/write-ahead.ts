/**
 * Sends statements in sequence. Prepares each statement while the database runs the previous statement. `prepare`
 * returns the function that sends a statement. Yields the results in order. After a failure, the next statement may
 * already be running, so the caller must roll back. Rejects with the first failure.
 */
export async function* writeAhead<C, R>(
	chunks: Iterable<C>,
	prepare: (chunk: C) => () => Promise<R>,
): AsyncGenerator<R> {
	let sent: Promise<R> | undefined;
	for (const chunk of chunks) {
		const send = prepare(chunk);
		const before = sent;
		if (before !== undefined) await before;
		sent = send();
		// The failure surfaces when the promise is awaited. If an earlier failure prevents that, avoid an unhandled
		// rejection.
		sent.catch(() => {});
		if (before !== undefined) yield before;
	}
	if (sent !== undefined) yield sent;
}
