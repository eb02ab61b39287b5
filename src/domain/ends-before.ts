/** An object with an optional expiry. `null` means no expiry. */
interface Ending {
	readonly expires_at: Date | null;
}

/** True if `first` expires before `second`. */
export function endsBefore(first: Ending, second: Ending): boolean {
	return first.expires_at !== null && (second.expires_at === null || first.expires_at < second.expires_at);
}
