/** The longest delay that timers take, in milliseconds: beyond it they fire at once. */
const longest = 2 ** 31 - 1;

/** The delay that comes closest to what a caller wants, in milliseconds. */
export function possibleDelay(milliseconds: number): number {
	return Math.min(Math.max(milliseconds, 0), longest);
}
