/** Times as strings in a fixed form that sorts by time. */

const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Last time with this form, in milliseconds since 1970. */
export const lastTime = Date.parse('9999-12-31T23:59:59.999Z');

/** Returns the milliseconds since 1970 of a string such as `2030-01-31T08:15:00.000Z`; `undefined` for other forms. */
export function millisecondsOf(text: unknown): number | undefined {
	if (typeof text !== 'string' || !form.test(text)) return undefined;
	const time = Date.parse(text);
	return !Number.isNaN(time) && timeText(time) === text ? time : undefined;
}

export function timeText(milliseconds: number): string {
	return new Date(milliseconds).toISOString();
}
