/** Joins several keys to a single text. */
export function joinedKeys(...keys: readonly string[]): string {
	return JSON.stringify(keys);
}
