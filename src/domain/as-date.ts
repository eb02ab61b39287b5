/** Parses an optional ISO 8601 instant; `null` if absent. */
export function asDate(instant: string | undefined): Date | null {
	return instant === undefined ? null : new Date(instant);
}
