/** Durations in conditions. Months and years are not accepted, because their length varies. */

const millisecondsPerDay = 86_400_000;

/** Longest duration, in days. It is limited so that all times have four-digit years. */
export const maxDays = 36_500;

const form = /^P(?:(\d{1,9})W|(?=[\dT])(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?)$/;

/** Returns the length of an ISO 8601 duration, such as `P30D` or `PT8H30M`, in milliseconds. */
export function durationLength(text: string): number | undefined {
	const parts = form.exec(text);
	if (parts === null) return undefined;
	const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part ?? 0));
	const length = (weeks * 7 + days) * millisecondsPerDay + ((hours * 60 + minutes) * 60 + seconds) * 1000;
	return length <= maxDays * millisecondsPerDay ? length : undefined;
}

/**
 * Subtracts a valid duration from `now`, in milliseconds since 1970. Returns the result as a string in UTC with
 * milliseconds.
 */
export function timeBefore(now: number, duration: string): string {
	return new Date(Math.floor(now) - (durationLength(duration) ?? 0)).toISOString();
}

/** True for a time in UTC with milliseconds, such as `2026-10-25T09:30:00.000Z`. Such strings sort by time. */
export function isInstant(text: string): boolean {
	return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text);
}
