/** Joins several keys to one text. */
export function joinedKeys(...keys: readonly string[]): string {
	return JSON.stringify(keys);
}
