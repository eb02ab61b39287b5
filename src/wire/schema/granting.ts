import { z } from 'zod';
import { environmentObject, optional, Timestamp } from '../common.js';

/**
 * Bodies of requests that grant access. Unknown members, such as a condition, are refused: without them, the grant would
 * be wider than it was meant. Members that only answers have are ignored, so that clients can send back
 * what they read, and so are nulls.
 */

/** The members that every object in an answer has. */
const everywhere = Object.keys(environmentObject);

/**
 * The schema of a body that grants access. `echoed` are further members of what the endpoint answers, besides ids and
 * times; they are ignored.
 */
export function granting<S extends z.ZodRawShape>(shape: S, echoed: readonly string[] = []) {
	const ignored = new Set([...everywhere, ...echoed].filter((name) => !Object.hasOwn(shape, name)));
	const isIgnored = ([name, value]: readonly [string, unknown]) =>
		ignored.has(name) || (value === null && !Object.hasOwn(shape, name));
	return z.preprocess((body) => {
		if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
		const members = Object.entries(body);
		return members.some(isIgnored) ? Object.fromEntries(members.filter((member) => !isIgnored(member))) : body;
	}, z.strictObject(shape));
}

const firstFiveDigitYear = Date.UTC(10_000, 0);

/**
 * When a grant ends: ISO 8601 with a zone, in the future. Absent, or null, it holds for good. Comes out as ISO 8601 in
 * UTC, with `Z`.
 */
export const Expiry = z.iso
	.datetime({ offset: true, error: ({ input }) => `must be an ISO 8601 time with a zone, got ${shown(input)}` })
	.refine((instant) => !(Date.parse(instant) <= Date.now()), {
		error: ({ input }) => `must be in the future, got ${shown(input)}`,
	})
	// A time of the year 9999 with an offset may be in the year 10000 in UTC.
	.refine((instant) => !(Date.parse(instant) >= firstFiveDigitYear), {
		error: ({ input }) => `must be before the year 10000 in UTC, got ${shown(input)}`,
	})
	.transform((instant) => new Date(instant).toISOString())
	.meta({
		type: 'string',
		format: 'date-time',
		description: 'When the grant ends, in the future. Absent or null: it holds for good.',
		example: '2999-12-31T23:59:59Z',
	});

/** The member of grants that may end. */
export const expiryShape = {
	expires_at: optional(Expiry).describe('When the grant ends, in the future. Absent or null: it holds for good.'),
};

/** The member of answers that shows when a grant ends; absent for one that holds for good. */
export const shownExpiry = {
	expires_at: Timestamp.optional().meta({ description: 'When the grant ends; absent for good.' }),
};

/** A wrong value as a message shows it. */
function shown(value: unknown): string {
	const text = typeof value === 'string' || typeof value === 'number' ? String(value) : typeof value;
	return `\`${text.slice(0, 100)}\``;
}
