/**
 * Sends statements one after another, and prepares each while the database is busy with the one before. `prepare` makes
 * what sends one. Gives the answers in order; the next statement may be on its way by then, so a caller that stops at a
 * failure has to roll back. Rejects as the first statement that fails.
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
		// Its failure is met when it is awaited, which does not come to pass where something else fails before.
		sent.catch(() => {});
		if (before !== undefined) yield before;
	}
	if (sent !== undefined) yield sent;
}
