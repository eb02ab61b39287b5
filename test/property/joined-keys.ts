/** Joins several keys to a single string. */
export function joinedKeys(...keys: readonly string[]): string {
	return JSON.stringify(keys);
}
