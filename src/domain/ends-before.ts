/** Something that ends at some time, or never (`null`). */
interface Ending {
	readonly expires_at: Date | null;
}

/** Whether the first ends before the second. */
export function endsBefore(first: Ending, second: Ending): boolean {
	return first.expires_at !== null && (second.expires_at === null || first.expires_at < second.expires_at);
}
