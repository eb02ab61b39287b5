/** An object with an optional expiry (`null` for none). */
interface Ending {
	readonly expires_at: Date | null;
}

/** True if the first expires before the second. */
export function endsBefore(first: Ending, second: Ending): boolean {
	return first.expires_at !== null && (second.expires_at === null || first.expires_at < second.expires_at);
}
