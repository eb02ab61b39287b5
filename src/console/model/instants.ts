/** Instants and durations for fields and sentences. */

/** Formats an instant for a date and time field: in the browser's time zone, to the minute. */
export function fieldTime(instant: Date): string {
	const inZone = new Date(instant.getTime() - instant.getTimezoneOffset() * 60_000);
	return inZone.toISOString().slice(0, 16);
}

/** Converts the field value to an API member; empty for an empty field. */
export function expiryMember(value: string): { readonly expires_at?: string } {
	return value === '' ? {} : { expires_at: new Date(value).toISOString() };
}

const units = [
	[86_400, 'day'],
	[3_600, 'hour'],
	[60, 'minute'],
	[1, 'second'],
] as const;

/** Formats seconds in the largest unit without a fraction, such as `7 days` or `90 minutes`. */
export function durationText(seconds: number): string {
	const [size, name] = units.find(([unit]) => seconds % unit === 0) ?? [1, 'second'];
	const count = seconds / size;
	return `${count} ${name}${count === 1 ? '' : 's'}`;
}
