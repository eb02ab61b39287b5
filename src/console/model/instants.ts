/** Instants and durations for fields and sentences. */

/** Formats a time for a date and time field, in the browser's time zone and to the minute. */
export function fieldTime(instant: Date): string {
	const inZone = new Date(instant.getTime() - instant.getTimezoneOffset() * 60_000);
	return inZone.toISOString().slice(0, 16);
}

/**
 * Value of the expiry field: empty for no expiry, `in <seconds>` for a duration, or `on <field time>` for a time. The
 * part after the word is empty until the user enters it.
 */
export type ExpiryText = '' | `in ${string}` | `on ${string}`;

/** Converts the expiry field's value to an API field. A duration starts now. An empty field gives no field. */
export function expiryMember(value: ExpiryText, now = Date.now()): { readonly expires_at?: string } {
	const given = value.slice('in '.length);
	if (given === '') return {};
	const instant = value.startsWith('in ') ? new Date(now + Number(given) * 1_000) : new Date(given);
	return { expires_at: instant.toISOString() };
}

const units = [
	[86_400, 'day'],
	[3_600, 'hour'],
	[60, 'minute'],
	[1, 'second'],
] as const;

/** Formats seconds in the largest unit that needs no fraction, such as `7 days` or `90 minutes`. */
export function durationText(seconds: number): string {
	const [size, name] = units.find(([unit]) => seconds % unit === 0) ?? [1, 'second'];
	const count = seconds / size;
	return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** Units for the entry of a duration, with their length in seconds. */
export const durationUnits = { minutes: 60, hours: 3_600, days: 86_400, weeks: 604_800 } as const;
export type DurationUnit = keyof typeof durationUnits;

/** Converts seconds to the largest unit that needs no fraction. Rounds up to minutes. */
export function splitDuration(seconds: number): { readonly count: number; readonly unit: DurationUnit } {
	const unit = (['weeks', 'days', 'hours'] as const).find((one) => seconds % durationUnits[one] === 0) ?? 'minutes';
	return { count: Math.ceil(seconds / durationUnits[unit]), unit };
}
