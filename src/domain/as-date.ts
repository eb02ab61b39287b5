/** The instant that a body names, as ISO 8601; `null` where it names none. */
export function asDate(instant: string | undefined): Date | null {
	return instant === undefined ? null : new Date(instant);
}
