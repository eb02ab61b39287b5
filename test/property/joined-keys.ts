/** One text for several keys. */
export function joinedKeys(...keys: readonly string[]): string {
	return JSON.stringify(keys);
}
