/**
 * Calls `work` for each item in order, and runs at most `limit` calls at the same time. After a failure, starts no
 * further call, waits for the running calls, and rejects with the first failure.
 */
export async function forEachAtOnce<T>(
	items: Iterable<T>,
	limit: number,
	work: (item: T) => Promise<void>,
): Promise<void> {
	const remaining = items[Symbol.iterator]();
	const failures: unknown[] = [];
	const runNext = async (): Promise<void> => {
		for (let next = remaining.next(); !next.done && failures.length === 0; next = remaining.next()) {
			await work(next.value).catch((error: unknown) => failures.push(error));
		}
	};
	await Promise.all(Array.from({ length: limit }, runNext));
	if (failures.length > 0) throw failures[0];
}
