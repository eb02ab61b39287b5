/**
 * The common order for all compiler output. It compares UTF-16 code units, so it is the same on every machine and in
 * every locale.
 */
export function byCodeUnit(left: string, right: string): number {
	return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns a sorted copy without duplicates. */
export function canonical(keys: Iterable<string>): readonly string[] {
	return [...new Set(keys)].sort(byCodeUnit);
}

/** Returns a copy sorted by key. */
export function sortedBy<T>(items: readonly T[], toKey: (item: T) => string): readonly T[] {
	return [...items].sort((left, right) => byCodeUnit(toKey(left), toKey(right)));
}
